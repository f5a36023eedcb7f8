#include "cli/views/plot/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli/views/numbers.hpp"
#include "cli/views/prediction_text.hpp"

namespace mansard::cli {
namespace {

using hardware::Machine;
using model::OpPrediction;
using model::Prediction;

/// Rates closer than this are drawn as one line.
constexpr double kSameRate = 0.02;

ResourceClass class_of(const Machine& machine, std::string_view resource) {
  if (resource.starts_with("matrix.")) {
    return ResourceClass::kMatrix;
  }
  if (resource.starts_with("vector.")) {
    return ResourceClass::kVector;
  }
  const hardware::Tier* tier = machine.tier(resource);
  if (tier == nullptr) {
    return ResourceClass::kOther;
  }
  if (tier->main) {
    return ResourceClass::kMain;
  }
  return tier->link ? ResourceClass::kLink : ResourceClass::kCache;
}

/// Engines that an op of the step puts to work.
std::set<std::string, std::less<>> used_rates(const Prediction& prediction) {
  std::set<std::string, std::less<>> used;
  for (const OpPrediction& op : prediction.ops) {
    for (const model::TermValue& term : op.bound_terms) {
      if (term.seconds > 0) {
        used.insert(term.resource);
      }
    }
  }
  return used;
}

/// A rate of the machine before those that are the same are put together.
struct Rate {
  std::string dtype;
  std::string_view engine;
  double flops_per_s = 0;
  bool used = false;
};

std::vector<Rate> rates(const Machine& machine, const Prediction& prediction) {
  const auto used = used_rates(prediction);
  std::vector<Rate> result;
  for (const std::string_view engine : {"matrix", "vector"}) {
    for (const std::string& dtype : machine.rates(engine)) {
      const std::string path = fmt::format("{}.{}", engine, dtype);
      const auto rate = machine.known(path);
      if (rate && !dtype.ends_with("_acc16")) {
        result.push_back({dtype, engine, *rate, used.contains(path)});
      }
    }
  }
  std::ranges::sort(result, {}, [](const Rate& rate) {
    return std::pair(rate.flops_per_s, std::string_view(rate.dtype));
  });
  return result;
}

bool same(const Roofline::Ceiling& ceiling, const Rate& rate) {
  return std::abs(rate.flops_per_s / ceiling.flops_per_s - 1) < kSameRate;
}

/// "bf16, fp16 matrix; fp32 vector", from dtypes in groups of one engine.
class CeilingLabel {
 public:
  void add(const Rate& rate) {
    if (engine_ != rate.engine) {
      text_ += engine_.empty() ? "" : fmt::format(" {}; ", engine_);
      engine_ = rate.engine;
    } else {
      text_ += ", ";
    }
    text_ += rate.dtype;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{} {}", text_, engine_); }

 private:
  std::string text_;
  std::string_view engine_;
};

std::vector<Roofline::Ceiling> ceilings(const Machine& machine, const Prediction& prediction) {
  std::vector<Roofline::Ceiling> result;
  CeilingLabel label;
  for (const Rate& rate : rates(machine, prediction)) {
    if (result.empty() || !same(result.back(), rate)) {
      result.push_back({.flops_per_s = rate.flops_per_s});
      label = {};
    }
    label.add(rate);
    Roofline::Ceiling& ceiling = result.back();
    ceiling.label = label.text();
    ceiling.used = ceiling.used || rate.used;
    ceiling.matrix = ceiling.matrix || rate.engine == "matrix";
  }
  return result;
}

std::vector<Roofline::Slope> slopes(const Machine& machine) {
  std::vector<Roofline::Slope> result;
  const auto add = [&](const std::string& tier) {
    if (const auto bandwidth = machine.known(tier + ".bandwidth")) {
      result.push_back({tier, *bandwidth});
    }
  };
  add(machine.main().name);
  for (const hardware::Tier& tier : machine.tiers) {
    if (tier.scope == hardware::TierScope::kDevice && !tier.main) {
      add(tier.name);
    }
  }
  return result;
}

}  // namespace

Roofline roofline(const Machine& machine, const Prediction& prediction) {
  Roofline result{
      .machine = machine.name,
      .heading = heading(prediction),
      .summary = fmt::format("{} a step, at least {}", seconds(prediction.totals.estimate_s),
                             seconds(prediction.totals.bound_s)),
      .ceilings = ceilings(machine, prediction),
      .slopes = slopes(machine)};
  for (const OpPrediction& op : prediction.ops) {
    const double work = op.flops > 0 ? op.flops : op.vector_flops;
    const double part = share(op, prediction);
    if (work <= 0 || op.bytes <= 0 || op.estimate_s <= 0) {
      result.left_out.push_back({op.name, part});
      continue;
    }
    result.dots.push_back({.name = op.name,
                           .binding = op.binding,
                           .resource = class_of(machine, op.binding),
                           .intensity = work / op.bytes,
                           .flops_per_s = work / op.estimate_s,
                           .share = part});
  }
  const auto largest_first = [](const auto& op) {
    return std::pair(-op.share, std::string_view(op.name));
  };
  std::ranges::sort(result.dots, {}, largest_first);
  std::ranges::sort(result.left_out, {}, largest_first);
  return result;
}

}  // namespace mansard::cli
