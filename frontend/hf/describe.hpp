#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/hf/architecture.hpp"
#include "frontend/hf/config.hpp"
#include "frontend/hf/family.hpp"

namespace mansard::frontend::hf {

/// What `config` says as a model of `family`. Errors are added to `config`; the result means
/// something only if there are none.
[[nodiscard]] Architecture describe(const Family& family, Config& config);

/// The value of a required count, at least 1: the key's, or else the class default, or else an
/// error.
[[nodiscard]] std::int64_t required(Config& config, const KeyList& spellings,
                                    std::int64_t otherwise = 0);
[[nodiscard]] bool is_set(Config& config, const Flag& flag);
/// The cost of an activation function by its transformers name; refuses an unknown one.
[[nodiscard]] Activation activation_of(Config& config, const KeyList& spellings,
                                       std::string_view otherwise, bool gated);

/// The layers of one kind under one name; the order is that of first appearance.
[[nodiscard]] std::vector<LayerGroup> group_layers(const std::vector<Layer>& layers);

}  // namespace mansard::frontend::hf
