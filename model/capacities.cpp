#include "model/capacities.hpp"

#include <array>

#include <fmt/format.h>

namespace mansard::model {
namespace {

using ir::Expr;

/// Rates to try for a type that the engine does not list: the same arithmetic under another name,
/// or a wider type.
std::vector<std::string> candidates(std::string_view engine, std::string_view dtype) {
  std::vector<std::string> result{fmt::format("{}.{}", engine, dtype)};
  const auto add = [&](std::string_view field) { result.emplace_back(field); };
  if (dtype == "bf16") {
    add(fmt::format("{}.fp16", engine));  // an engine that lists one 16-bit rate runs both at it
  } else if (dtype == "fp16") {
    add(fmt::format("{}.bf16", engine));
  } else if (dtype == "tf32") {
    add("vector.fp32");
  }
  if (engine == "matrix") {
    add(fmt::format("vector.{}", dtype));
    if (dtype == "bf16" || dtype == "fp16") {
      add("vector.fp32");
    }
  }
  return result;
}

}  // namespace

Expr Capacities::known(std::string_view path) const {
  if (!machine_.known(path)) {
    return {};
  }
  return *machine_.expr(path, pool_);
}

Result<Rate> Capacities::rate(const std::string& field) const {
  auto quoted = machine_.expr(field, pool_);
  if (!quoted) {
    return failure(std::move(quoted.error()));
  }
  auto peak = machine_.peak(field, pool_);
  return Rate{field, ir::Typed<FlopsPerSecond>(*quoted), ir::Typed<FlopsPerSecond>(*peak)};
}

Result<Rate> Capacities::contraction(ir::Engine engine, const ir::Dtype& a, const ir::Dtype& b,
                                     const ir::Dtype* fallback, std::string* substituted) const {
  const std::string_view name = engine == ir::Engine::kVector ? "vector" : "matrix";
  // The wider of the two types is what the engine computes in; storage-only types follow the other
  // operand.
  const bool a_computes = !a.arithmetic.empty();
  const bool b_computes = !b.arithmetic.empty();
  const ir::Dtype& first = !b_computes || (a_computes && a.bits >= b.bits) ? a : b;
  const ir::Dtype& second = &first == &a ? b : a;
  for (const ir::Dtype* type : std::array{&first, &second, fallback}) {
    if (type == nullptr || type->arithmetic.empty()) {
      continue;
    }
    for (const std::string& field : candidates(name, type->arithmetic)) {
      if (!machine_.known(field)) {
        continue;
      }
      if (substituted != nullptr && (type != &first || (a_computes != b_computes))) {
        const ir::Dtype& stored = type == &a ? b : a;
        *substituted = fmt::format("{} operands are dequantised and computed at {} ({})",
                                   stored.name, type->arithmetic, field);
      }
      return rate(field);
    }
  }
  return failure("no-engine", fmt::format("{} has no known {} rate for {} x {}", machine_.name,
                                          name, a.name, b.name));
}

Result<Rate> Capacities::elementwise(const ir::Dtype& dtype) const {
  for (const std::string& field :
       {fmt::format("vector.{}", dtype.arithmetic), std::string("vector.fp16"),
        std::string("vector.fp32"), std::string("vector.bf16")}) {
    if (machine_.known(field)) {
      return rate(field);
    }
  }
  return failure("no-engine",
                 fmt::format("{} has no known vector rate for {}", machine_.name, dtype.name));
}

Result<ir::Typed<BytesPerSecond>> Capacities::main_bandwidth() const {
  return link_bandwidth("main");
}

const hardware::Tier* Capacities::cache() const {
  for (const hardware::Tier& tier : machine_.tiers) {
    if (tier.scope == hardware::TierScope::kDevice && !tier.main) {
      return &tier;
    }
  }
  return nullptr;
}

Expr Capacities::cache_figure(std::string_view name) const {
  return cache() == nullptr ? Expr() : known(fmt::format("{}.{}", cache()->name, name));
}

std::optional<ir::Typed<BytesPerSecond>> Capacities::cache_bandwidth() const {
  if (const Expr bandwidth = cache_figure("bandwidth")) {
    return ir::Typed<BytesPerSecond>(bandwidth);
  }
  return std::nullopt;
}

Expr Capacities::known_cache_capacity() const {
  const hardware::Tier* last = machine_.last_level();
  return last == nullptr ? Expr() : known(last->name + ".capacity");
}

Expr Capacities::cache_capacity() const {
  const Expr capacity = known_cache_capacity();
  return capacity ? capacity : pool_.constant(0, kByte);
}

Result<ir::Typed<BytesPerSecond>> Capacities::link_bandwidth(const std::string& tier) const {
  auto bandwidth = machine_.expr(tier + ".bandwidth", pool_);
  if (!bandwidth) {
    return failure(std::move(bandwidth.error()));
  }
  return ir::Typed<BytesPerSecond>(*bandwidth);
}

}  // namespace mansard::model
