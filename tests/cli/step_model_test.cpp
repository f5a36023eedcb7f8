#include "model/serve/step_model.hpp"

#include <array>
#include <memory>

#include <catch2/catch.hpp>

#include "frontend/frontend.hpp"
#include "hardware/catalog.hpp"
#include "model/prediction.hpp"

namespace mansard::model::serve {
namespace {

/// A model on a machine, and both ways to time a step of it.
struct Timed {
  std::unique_ptr<StepModel> steps;
  std::unique_ptr<Predictor> decode;
  std::unique_ptr<Predictor> prefill;
};

Timed timed(const std::string& model, const std::string& machine_name, Plan plan = {}) {
  const auto decode = frontend::import_model(model, frontend::Phase::kDecode);
  const auto prefill = frontend::import_model(model, frontend::Phase::kPrefill);
  const auto machine = hardware::load_machine(machine_name);
  REQUIRE((decode && prefill && machine));
  const auto calibration = Calibration::of(*machine);
  REQUIRE(calibration);
  auto steps = StepModel::build({.decode = *decode,
                                 .prefill = *prefill,
                                 .machine = *machine,
                                 .calibration = *calibration,
                                 .plan = plan,
                                 .options = {},
                                 .captured = {1, 2, 4, 8, 16, 32, 64, 3000}});
  REQUIRE(steps);
  Timed result;
  result.steps = std::move(*steps);
  result.decode =
      std::make_unique<Predictor>(*Predictor::build(*decode, *machine, *calibration, plan, {}));
  result.prefill =
      std::make_unique<Predictor>(*Predictor::build(*prefill, *machine, *calibration, plan, {}));
  return result;
}

double seconds(StepModel& steps, const Batch& batch) {
  std::array<double, kMostResources> busy{};
  return steps.cost(batch, busy).seconds;
}

TEST_CASE("a step of equal sequences takes what predict says", "[serve]") {
  Plan tp2;
  tp2.parallelism.tp = 2;
  const std::array cases{std::pair("llama3-8b", Plan{}), std::pair("gemma2-9b", Plan{}),
                         std::pair("qwen3-30b-a3b", tp2), std::pair("deepseek-v2-lite", Plan{})};
  for (const auto& [model, plan] : cases) {
    CAPTURE(model);
    const Timed t = timed(model, "h200-sxm", plan);
    Batch decode;
    decode.decodes.assign(16, 2000);
    const Workload work{.phase = "decode", .batch = 16, .context = 2000};
    CHECK(seconds(*t.steps, decode) ==
          Approx(t.decode->predict(work).totals.estimate_s).epsilon(1e-9));
    Batch prompt;
    prompt.chunks = {{3000, 3000}};
    const Workload whole{.phase = "prefill", .batch = 1, .context = 3000};
    CHECK(seconds(*t.steps, prompt) ==
          Approx(t.prefill->predict(whole).totals.estimate_s).epsilon(1e-9));
    Batch prompts;
    prompts.chunks = {{1000, 1000}, {1000, 1000}, {1000, 1000}};
    const Workload three{.phase = "prefill", .batch = 3, .context = 1000};
    CHECK(seconds(*t.steps, prompts) ==
          Approx(t.prefill->predict(three).totals.estimate_s).epsilon(1e-9));
  }
}

TEST_CASE("a batch of unlike contexts takes what its mean does, windows counted each", "[serve]") {
  const Timed t = timed("llama3-8b", "h200-sxm");
  Batch unlike;
  unlike.decodes = {1000, 3000, 1500, 2500};
  Batch alike;
  alike.decodes.assign(4, 2000);
  CHECK(seconds(*t.steps, unlike) == seconds(*t.steps, alike));
  const Timed windowed = timed("gemma2-9b", "h200-sxm");  // every other layer sees 4096 tokens
  unlike.decodes = {4096, 12096};
  alike.decodes.assign(2, 8096);
  CHECK(seconds(*windowed.steps, unlike) == seconds(*windowed.steps, alike));
  unlike.decodes = {96, 16096};  // one sequence reads 96 keys where both would read 4096
  CHECK(seconds(*windowed.steps, unlike) < seconds(*windowed.steps, alike));
}

TEST_CASE("time grows with every token, and a graph is padded", "[serve]") {
  const Timed t = timed("llama3-8b", "h200-sxm");
  Batch batch;
  batch.decodes.assign(33, 100);
  Batch padded;
  padded.decodes.assign(64, 50);
  const double less = seconds(*t.steps, batch);
  batch.chunks = {{5000, 5000}};
  CHECK(seconds(*t.steps, batch) > less);
  CHECK(less <= seconds(*t.steps, padded) * 1.2);
}

}  // namespace
}  // namespace mansard::model::serve
