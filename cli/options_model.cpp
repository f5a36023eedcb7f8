#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "ir/expr_eval.hpp"
#include "ir/passes/bind.hpp"
#include "ir/passes/fuse_network.hpp"
#include "support/suggest.hpp"

/// From a model's name to the graph that a verb works on: files that name their dimensions are
/// given values for them.
namespace mansard::cli {
namespace {

constexpr double kLargest = 0x1p53;

Result<ir::Graph> import(const ModelOptions& options) {
  return frontend::import_model(options.model, options.phase == "prefill"
                                                   ? frontend::Phase::kPrefill
                                                   : frontend::Phase::kDecode);
}

std::optional<double> whole_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && value >= 0 && value < kLargest && std::floor(value) == value ? std::optional(value)
                                                                             : std::nullopt;
}

bool is_dimension(const ir::Graph& graph, std::string_view name) {
  const bool ours = name == "batch" || name == "context" || name == "q_len";
  return std::ranges::find(graph.facts.symbols, name, &ir::DimensionSymbol::name) !=
             graph.facts.symbols.end() ||
         (ours && graph.facts.file && ir::depends_on(graph, name));
}

Result<ir::SymbolValues> values_of(const ir::Graph& graph,
                                   const std::vector<hardware::Setting>& settings) {
  ir::SymbolValues values;
  Diagnostics errors;
  for (const hardware::Setting& setting : settings) {
    if (const auto number = whole_number(setting.text)) {
      values.insert_or_assign(setting.path, graph.pool().constant(*number));
    } else {
      errors.push_back({.id = "setting",
                        .message = fmt::format("--set {}={}: a dimension is a whole number from 0",
                                               setting.path, setting.text),
                        .location = {},
                        .label = {}});
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  return values;
}

/// Parts `settings` into those that name a dimension of the graph and the rest, which stay.
std::vector<hardware::Setting> take_dimensions(const ir::Graph& graph,
                                               std::vector<std::string>& settings) {
  std::vector<hardware::Setting> taken;
  std::erase_if(settings, [&](const std::string& text) {
    auto setting = parse_setting(text);
    const bool is_ours = setting && is_dimension(graph, setting->path);
    if (is_ours) {
      taken.push_back(std::move(*setting));
    }
    return is_ours;
  });
  return taken;
}

void note_meaning(ir::Graph& graph, const ir::SymbolValues& meaning) {
  std::string text;
  for (const auto& [name, value] : meaning) {
    const auto symbols = ir::symbols_of(value);
    const std::string of =
        symbols.size() == 2 ? "context - q_len" : std::string(symbols[0]->symbol);
    text += name == of ? "" : fmt::format("{}{} is {}", text.empty() ? "" : ", ", name, of);
  }
  if (!text.empty()) {
    graph.facts.notes.push_back(fmt::format("dimensions by their names: {}", text));
  }
}

tl::unexpected<Diagnostics> unbound(const ir::Graph& graph,
                                    const std::vector<ir::DimensionSymbol>& symbols) {
  std::string list;
  std::string hint = "add";
  for (const ir::DimensionSymbol& symbol : symbols) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", symbol.name, symbol.meaning);
    hint += fmt::format(" --set {}=N", symbol.name);
  }
  return failure("dimension-unbound",
                 fmt::format("{} has dimensions without a value: {}", graph.facts.name, list), {},
                 hint);
}

/// A loop's trips must be a number; those that depend on the workload are taken at this one.
void settle_loops(ir::Graph& graph, const ModelOptions& options) {
  const ir::Bindings workload = workload_of(options).bindings();
  for (ir::Block& block : graph.blocks()) {
    if (block.repeats) {
      const double times = ir::value(block.repeats, workload);
      block.repeats = graph.pool().constant(std::max(0.0, std::floor(times)));
      graph.facts.notes.push_back(
          fmt::format("'{}' runs {} times at this workload", block.name, std::floor(times)));
    }
  }
}

/// An option that would change nothing is refused.
Diagnostics idle_options(const ir::Graph& graph, const ModelOptions& options) {
  Diagnostics errors;
  const auto refuse = [&](const char* option, const char* why) {
    errors.push_back(
        {.id = "option-idle",
         .message = fmt::format("{}: {} changes nothing: {}", graph.facts.name, option, why),
         .location = {},
         .label = {}});
  };
  const ModelOptions usual;
  if (options.batch != usual.batch && !ir::depends_on(graph, "batch")) {
    refuse("--batch", "no dimension of the file is a batch");
  }
  if (options.context != usual.context && !ir::depends_on(graph, "context") &&
      !ir::depends_on(graph, "q_len")) {
    refuse("--context", "no dimension of the file is a sequence");
  }
  const bool splits = std::ranges::any_of(
      graph.ops(), [](const ir::Op& op) { return op.split != ir::Split::kReplicated; });
  if (!splits && (options.tp > 1 || options.ep > 1 || options.cp > 1 || options.pp > 1)) {
    refuse("parallelism",
           "an ONNX graph does not say how its ops divide; only --dp splits its batch");
  }
  return errors;
}

/// Every dimension of a file's graph as a number or in terms of the workload.
Result<ir::Graph> for_workload(ir::Graph graph, const ModelOptions& options) {
  const ir::SymbolValues meaning = ir::workload_meaning(graph);
  note_meaning(graph, meaning);
  auto bound = ir::bind_symbols(std::move(graph), meaning);
  if (!bound) {
    return bound;
  }
  if (const auto symbols = ir::free_symbols(*bound); !symbols.empty()) {
    return unbound(*bound, symbols);
  }
  if (Diagnostics errors = idle_options(*bound, options); !errors.empty()) {
    return failure(std::move(errors));
  }
  settle_loops(*bound, options);
  bound = ir::bind_symbols(std::move(*bound), {});
  return bound && options.fusion == "on" ? ir::fuse_network(std::move(*bound)) : std::move(bound);
}

}  // namespace

Result<ir::Graph> read_model(const ModelOptions& options,
                             const std::vector<std::string>& settings) {
  auto graph = import(options);
  if (!graph) {
    return graph;
  }
  std::vector<std::string> rest = settings;
  const auto values = values_of(*graph, take_dimensions(*graph, rest));
  if (!values) {
    return failure(values.error());
  }
  if (!rest.empty()) {
    std::vector<std::string> names;
    for (const ir::DimensionSymbol& symbol : graph->facts.symbols) {
      names.push_back(symbol.name);
    }
    const auto setting = parse_setting(rest.front());
    if (!setting) {
      return failure(setting.error());
    }
    const auto meant = did_you_mean(setting->path, names);
    return failure("setting",
                   fmt::format("{} has no dimension '{}'", graph->facts.name, setting->path), {},
                   meant ? fmt::format("did you mean '{}'?", *meant) : "");
  }
  return values->empty() ? std::move(graph) : ir::bind_symbols(std::move(*graph), *values);
}

Result<ir::Graph> load_model(ModelOptions& options, std::vector<std::string>& settings) {
  auto graph = import(options);
  if (!graph || !graph->facts.file) {
    return graph;
  }
  auto values = values_of(*graph, take_dimensions(*graph, settings));
  if (!values) {
    return failure(values.error());
  }
  const auto workload = [&](const char* name, std::int64_t& option) {
    if (const auto found = values->find(name); found != values->end()) {
      option = static_cast<std::int64_t>(found->second.constant());
      values->erase(found);
    }
  };
  workload("batch", options.batch);
  workload("context", options.context);
  auto bound = ir::bind_symbols(std::move(*graph), *values);
  return bound ? for_workload(std::move(*bound), options) : bound;
}

Result<ir::Graph> load_model(const ModelOptions& options) {
  ModelOptions copy = options;
  std::vector<std::string> none;
  return load_model(copy, none);
}

}  // namespace mansard::cli
