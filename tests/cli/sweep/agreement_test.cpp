#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include "cli/predictor.hpp"
#include "cli/sweep/axes.hpp"
#include "cli/sweep/variants.hpp"
#include "frontend/frontend.hpp"
#include "hardware/catalog.hpp"
#include "model/sensitivity.hpp"
#include "model/sweep/sinks.hpp"

/// Compiled models against the interpreter, slopes against differences.
namespace mansard::cli {
namespace {

const std::vector<std::string> kOutputs{"bound_s", "low_s", "estimate_s", "high_s", "memory.bytes"};

Question question_of(const std::string& model, const std::string& machine, std::int64_t tp,
                     const std::string& phase) {
  Question question;
  question.model.model = model;
  question.model.phase = phase;
  question.model.tp = tp;
  question.machine.machines = {machine};
  return question;
}

struct Evaluated {
  std::vector<model::SweepPoint> points;
  std::size_t infeasible = 0;
};

Evaluated evaluate(const Question& question, const model::SweepSpace& space, bool interpret) {
  VariantMaker maker(space, question, {.outputs = kOutputs, .where = {}, .interpret = interpret});
  model::CollectSink sink;
  const auto counts = model::run_sweep(
      space, [&](std::span<const std::uint64_t> places) { return maker.make(places); }, sink, {});
  REQUIRE(maker.errors().empty());
  return {sink.points(), static_cast<std::size_t>(counts.total() - counts.evaluated)};
}

/// The number of points that were compared.
std::size_t check_agreement(const Question& question) {
  const auto space = sweep_space({"batch=1,3,16,77", "context=129,2048,5000"}, question);
  REQUIRE(space);
  const Evaluated compiled = evaluate(question, *space, false);
  const Evaluated interpreted = evaluate(question, *space, true);
  CAPTURE(question.model.model, question.machine.machines.front(), question.model.phase);
  REQUIRE(compiled.infeasible == interpreted.infeasible);
  REQUIRE(compiled.points.size() == interpreted.points.size());
  for (std::size_t i = 0; i < compiled.points.size(); ++i) {
    REQUIRE(compiled.points[i].index == interpreted.points[i].index);
    REQUIRE(compiled.points[i].outputs == interpreted.points[i].outputs);
  }
  return compiled.points.size();
}

TEST_CASE("a compiled model has the bits of the interpreter", "[sweep][property]") {
  CHECK(check_agreement(question_of("llama3-8b", "h200-sxm", 1, "decode")) == 12);
  CHECK(check_agreement(question_of("gpt2", "v100-sxm2", 1, "prefill")) > 0);
  CHECK(check_agreement(question_of("mixtral-8x7b", "b200-sxm", 2, "decode")) == 12);
  CHECK(check_agreement(question_of("gemma2-9b", "mi300x", 1, "prefill")) > 0);
  CHECK(check_agreement(question_of("qwen2.5-7b", "tpu-v5p", 1, "decode")) > 0);
}

TEST_CASE("every built-in model on every machine has the bits of the interpreter",
          "[.all][sweep][property]") {
  std::size_t compared = 0;
  for (const std::string& model : frontend::builtin_models()) {
    for (const std::string& machine : hardware::machine_names()) {
      for (const char* phase : {"decode", "prefill"}) {
        compared += check_agreement(question_of(model, machine, 1, phase));
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE("slopes of smooth parameters are those of central differences", "[sensitivity]") {
  std::set<std::string> compared;
  for (const char* phase : {"decode", "prefill"}) {
    const Question question = question_of("llama3-8b", "h200-sxm", 2, phase);
    const auto predictor = build_predictor(question.model, question.machine);
    REQUIRE(predictor);
    const model::Workload workload = workload_of(question.model);
    const auto outputs = model::outputs_of(*predictor, workload);
    const ir::Bindings at = model::output_bindings(*predictor, workload);
    for (const char* name : {"bound_s", "estimate_s"}) {
      const auto output = model::find_output(outputs, name);
      REQUIRE(output);
      const double present = ir::value(output->expr, at);
      for (const model::Sensitivity& s : model::sensitivities(*predictor, *output, at)) {
        if (s.integer || s.one_sided || s.value == 0) {
          continue;
        }
        const auto value_at = [&](double factor) {
          ir::Bindings moved = at;
          moved.set(s.parameter, s.value * factor);
          return ir::value(output->expr, moved);
        };
        constexpr double kStep = 1e-5;
        const double difference =
            (value_at(1 + kStep) - value_at(1 - kStep)) / (2 * kStep * present);
        CAPTURE(phase, name, s.parameter);
        CHECK(s.elasticity == Approx(difference).epsilon(1e-6).margin(1e-8));
        compared.insert(s.parameter);
      }
    }
  }
  CHECK(compared.contains("hbm.bandwidth"));
  CHECK(compared.size() >= 4);
}

}  // namespace
}  // namespace mansard::cli
