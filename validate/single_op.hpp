#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "ir/dtype.hpp"
#include "ir/graph.hpp"
#include "ir/measurement.hpp"

namespace mansard::validate {

/// Builds graphs of one or a few ops whose symbols are columns.
class GraphMaker {
 public:
  explicit GraphMaker(const ir::Measurement& row);

  [[nodiscard]] ir::Expr column(std::string_view name);
  [[nodiscard]] ir::Expr number(double value);
  [[nodiscard]] const ir::Dtype& dtype() const { return *dtype_; }  ///< Of inputs.
  [[nodiscard]] const ir::Dtype& out_dtype() const { return *out_dtype_; }
  [[nodiscard]] const ir::Dtype& kv_dtype() const { return *kv_dtype_; }

  struct Dim {
    std::string_view name;
    ir::Expr value;
  };
  struct Override {
    std::string_view operand;
    const ir::Dtype* dtype;
  };
  /// Adds an op of that kind. Each required operand becomes a tensor of exactly the elements it
  /// touches (weights of `optional` too), of the row's dtype unless overridden.
  GraphMaker& op(std::string_view kind, std::initializer_list<Dim> dims,
                 std::initializer_list<Override> dtypes = {},
                 std::initializer_list<std::string_view> optional = {});
  /// Marks the op added last: "function" -> "silu_mul".
  GraphMaker& attribute(std::string name, std::string value);

  [[nodiscard]] ir::Graph take() { return std::move(graph_); }

 private:
  ir::Graph graph_;
  ir::BlockId block_{};
  const ir::Dtype* dtype_;
  const ir::Dtype* out_dtype_;
  const ir::Dtype* kv_dtype_;
};

/// The storage types of a row whose dtype column names a combination ("w4a16_mxfp4": bf16
/// activations, mxfp4 weights).
struct RowTypes {
  const ir::Dtype* activation;
  const ir::Dtype* weight;
};
[[nodiscard]] RowTypes row_types(std::string_view dtype);
/// The other way: what the dtype column says of an op with these operands; "bf16*fp8" where there
/// is no name for the two.
[[nodiscard]] std::string combined_type(const ir::Dtype& activation, const ir::Dtype& weight);

}  // namespace mansard::validate
