#include <fmt/format.h>

#include "frontend/hf/rule_help.hpp"
#include "frontend/hf/rules.hpp"

namespace mansard::frontend::hf {

namespace {

void set_moe(LayerPlan& layer, bool moe) {
  layer.feed_forward = moe ? FeedForwardKind::kMoe : FeedForwardKind::kDense;
}

}  // namespace

Rule all_moe() {
  return [](Config&, Plan& plan) {
    for (LayerPlan& layer : plan) {
      set_moe(layer, true);
    }
  };
}

Rule moe_if_experts(std::int64_t otherwise) {
  return [otherwise](Config& config, Plan& plan) {
    const auto experts = config.integer(Names{}.experts).value_or(otherwise);
    for (LayerPlan& layer : plan) {
      set_moe(layer, experts > 0);
    }
  };
}

Rule moe_after_dense(std::int64_t first) {
  return [first](Config& config, Plan& plan) {
    const auto dense = config.integer({"first_k_dense_replace"}).value_or(first);
    const Node* frequency = config.find("moe_layer_freq");
    if (frequency != nullptr && frequency->is_sequence()) {
      const std::vector<std::int64_t> list = config.integers("moe_layer_freq");
      if (fits(config, "moe_layer_freq", list.size(), plan)) {
        for (std::size_t i = 0; i < plan.size(); ++i) {
          set_moe(plan[i], list[i] != 0);
        }
      }
      return;
    }
    const std::size_t step = period_of(config, "moe_layer_freq", 1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], i >= static_cast<std::size_t>(dense) && i % step == 0);
    }
  };
}

Rule moe_after(std::string_view key, std::int64_t first) {
  return [key, first](Config& config, Plan& plan) {
    const auto dense = static_cast<std::size_t>(config.integer({key}).value_or(first));
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], i >= dense);
    }
  };
}

Rule moe_between(std::string_view first_key, std::string_view last_key,
                 std::string_view interval_key) {
  return [first_key, last_key, interval_key](Config& config, Plan& plan) {
    const auto first = static_cast<std::size_t>(config.integer({first_key}).value_or(1));
    const Node* last_node = config.find(last_key);
    // A negative end counts from the last layer, as a list's index does.
    const auto stated = last_node != nullptr ? last_node->as_integer().value_or(-1) : -1;
    const auto layers = static_cast<std::int64_t>(plan.size());
    const auto last = static_cast<std::size_t>(stated < 0 ? layers + stated : stated);
    const std::size_t every = period_of(config, interval_key, 1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], i >= first && i <= last && (i + 1) % every == 0);
    }
  };
}

Rule moe_by_sparse_step() {
  return [](Config& config, Plan& plan) {
    const std::size_t step = period_of(config, "decoder_sparse_step", 1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], (i + 1) % step == 0);
    }
    for (const std::int64_t dense : config.integers("mlp_only_layers")) {
      if (static_cast<std::size_t>(dense) < plan.size()) {
        set_moe(plan[static_cast<std::size_t>(dense)], false);
      }
    }
  };
}

Rule moe_every(std::string_view step_key, std::int64_t step) {
  return [step_key, step](Config& config, Plan& plan) {
    const std::size_t every = period_of(config, step_key, step);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], (i + 1) % every == 0);
    }
  };
}

Rule moe_by_period(std::string_view period_key, std::string_view offset_key) {
  return [period_key, offset_key](Config& config, Plan& plan) {
    const std::size_t period = period_of(config, period_key, 2);
    const auto offset = static_cast<std::size_t>(config.integer({offset_key}).value_or(1));
    const auto experts = config.integer(Names{}.experts).value_or(16);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      set_moe(plan[i], experts > 1 && i % period == offset);
    }
  };
}

Rule moe_in(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    if (config.find(key) == nullptr) {
      return;
    }
    for (LayerPlan& layer : plan) {
      set_moe(layer, false);
    }
    for (const std::int64_t moe : config.integers(key)) {
      if (static_cast<std::size_t>(moe) < plan.size()) {
        set_moe(plan[static_cast<std::size_t>(moe)], true);
      }
    }
  };
}

Rule listed_feed_forwards(std::string_view key) {
  return [key](Config& config, Plan& plan) {
    const std::vector<std::string> words = config.strings(key);
    if (words.empty() || !fits(config, key, words.size(), plan)) {
      return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (words[i] != "sparse" && words[i] != "dense") {
        config.refuse("config-layers", fmt::format("feed-forward '{}' is not known", words[i]),
                      config.find(key)->items[i].location, "known: sparse, dense");
      }
      set_moe(plan[i], words[i] == "sparse");
    }
  };
}

}  // namespace mansard::frontend::hf
