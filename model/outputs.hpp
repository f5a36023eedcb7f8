#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.hpp"
#include "model/prediction.hpp"
#include "support/result.hpp"

/// The fields of a prediction as expressions over the workload ("batch", "context") and the
/// machine's paths: what sweeps, sensitivities and artefacts evaluate. Their values are those that
/// `Predictor::predict` gives.
namespace mansard::model {

struct Output {
  std::string
      name;  ///< "bound_s", "tokens_per_second", "memory.kv_bytes", "ops.attention.estimate_s".
  ir::Expr expr;
};

/// Every field of the totals, the memory and the ops that this model has on this machine. `q_len`
/// is put in, so that the context of a prefill is one symbol.
[[nodiscard]] std::vector<Output> outputs_of(const Predictor& predictor, const Workload& workload);

/// The field called `name`; "tpot" means "tpot_s", "bound" "bound_s", and so on. Errors: there is
/// none (did-you-mean).
[[nodiscard]] Result<Output> find_output(const std::vector<Output>& outputs, std::string_view name);

/// Values of every symbol that the outputs read.
[[nodiscard]] ir::Bindings output_bindings(const Predictor& predictor, const Workload& workload);

}  // namespace mansard::model
