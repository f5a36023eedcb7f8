#include "model/program/batch.hpp"

#include <algorithm>
#include <cassert>

#include "model/program/interpreter.hpp"
#include "model/program/kernel.hpp"
#include "model/program/object_cache.hpp"
#include "support/plugin.hpp"

namespace mansard::model {
namespace {

Result<std::shared_ptr<const Kernel>> compile(const KernelCompiler& compiler,
                                              const Program& program, bool cached) {
  const ObjectCache cache(compiler.host(), program.fingerprint());
  if (cached) {
    if (const auto object = cache.find()) {
      if (auto kernel = compiler.load(*object)) {
        return kernel;
      }
    }
  }
  auto object = compiler.compile(program);
  if (!object) {
    return failure(std::move(object.error()));
  }
  if (cached) {
    cache.keep(*object);
  }
  return compiler.load(*object);
}

}  // namespace

Result<BatchFunction> BatchFunction::make(std::span<const ir::Expr> roots,
                                          const Program::Symbols& symbols,
                                          const ir::Bindings& fixed, const Options& options) {
  BatchFunction result;
  auto program = std::make_shared<Program>(roots, symbols);
  for (const std::string& name : program->fixed_symbols) {
    const double* value = fixed.find(name);
    assert(value != nullptr && "every symbol is bound");
    result.fixed_values_.push_back(*value);
  }
  ProgramInterpreter interpreter(*program);
  interpreter.set_fixed(result.fixed_values_);
  result.fixed_ = std::make_shared<const std::vector<double>>(interpreter.fixed_buffer());
  result.program_ = std::move(program);
  if (options.interpret) {
    return result;
  }
  const auto compiler = llvm_interface<KernelCompiler>();
  if (!compiler) {
    return result;
  }
  auto kernel = compile(**compiler, *result.program_, options.cache);
  if (!kernel) {
    return failure(std::move(kernel.error()));
  }
  result.kernel_ = std::move(*kernel);
  return result;
}

struct BatchFunction::Evaluator::State {
  explicit State(const BatchFunction& of)
      : function(of),
        hoisted(of.program().row_size()),
        padded(of.program().point_symbols.size()),
        results(of.program().roots.size()) {
    if (function.compiled()) {
      for (auto* buffers : {&padded, &results}) {
        for (std::vector<double>& buffer : *buffers) {
          buffer.resize(function.kernel_->width);
        }
      }
    } else {
      interpreter = std::make_unique<ProgramInterpreter>(of.program());
      interpreter->set_fixed(of.fixed_values_);
      point.resize(padded.size());
      values.resize(results.size());
    }
  }

  BatchFunction function;
  std::unique_ptr<ProgramInterpreter> interpreter;
  std::vector<double> row;
  std::vector<double> hoisted;
  std::vector<std::vector<double>> padded;   // The last points, up to a whole vector.
  std::vector<std::vector<double>> results;  // Of those.
  std::vector<double> point;                 // One point and its values.
  std::vector<double> values;
};

BatchFunction::Evaluator::Evaluator(const BatchFunction& function)
    : state_(std::make_unique<State>(function)) {}
BatchFunction::Evaluator::~Evaluator() = default;
BatchFunction::Evaluator::Evaluator(Evaluator&&) noexcept = default;

void BatchFunction::Evaluator::set_row(std::span<const double> values) {
  State& state = *state_;
  assert(values.size() == state.function.program().row_symbols.size());
  if (state.interpreter) {
    state.row.assign(values.begin(), values.end());
    state.interpreter->set_row(state.row);
    return;
  }
  state.row.assign(values.begin(), values.end());
  state.function.kernel_->row(state.function.fixed_->data(), state.row.data(),
                              state.hoisted.data());
}

void BatchFunction::Evaluator::evaluate(std::span<const double* const> columns, std::size_t n,
                                        std::span<double* const> out) {
  State& state = *state_;
  if (!state.interpreter) {
    const Kernel& kernel = *state.function.kernel_;
    const std::size_t whole = n - n % kernel.width;
    kernel.points(state.function.fixed_->data(), state.row.data(), state.hoisted.data(),
                  columns.data(), out.data(), static_cast<std::int64_t>(whole));
    return evaluate_rest(columns, whole, n, out);
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      state.point[i] = columns[i][j];
    }
    state.interpreter->evaluate(state.point, state.values);
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k][j] = state.values[k];
    }
  }
}

/// The points after the last whole vector, as a vector whose last lanes repeat the last point.
void BatchFunction::Evaluator::evaluate_rest(std::span<const double* const> columns,
                                             std::size_t begin, std::size_t n,
                                             std::span<double* const> out) {
  if (begin == n) {
    return;
  }
  State& state = *state_;
  const Kernel& kernel = *state.function.kernel_;
  std::vector<const double*> inputs;
  std::vector<double*> outputs;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t lane = 0; lane < kernel.width; ++lane) {
      state.padded[i][lane] = columns[i][std::min(begin + lane, n - 1)];
    }
    inputs.push_back(state.padded[i].data());
  }
  for (std::vector<double>& result : state.results) {
    outputs.push_back(result.data());
  }
  kernel.points(state.function.fixed_->data(), state.row.data(), state.hoisted.data(),
                inputs.data(), outputs.data(), static_cast<std::int64_t>(kernel.width));
  for (std::size_t k = 0; k < out.size(); ++k) {
    std::copy_n(state.results[k].begin(), n - begin, out[k] + begin);
  }
}

}  // namespace mansard::model
