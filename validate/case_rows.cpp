#include "validate/case_graphs.hpp"
#include "validate/single_op.hpp"

/// Row-wise ops (`rows` x `cols`) and streams (`elements`).
namespace mansard::validate::cases {
namespace {

using ir::Expr;

/// Elements of a row-wise op or of a stream.
Expr elements(GraphMaker& maker, const ir::Measurement& row) {
  return row.dims.contains("elements") ? maker.column("elements")
                                       : maker.column("rows") * maker.column("cols");
}

/// `read` elements in and `arithmetic` and `special` operations per element out.
struct Shape {
  double read = 1;
  double arithmetic = 0;
  double special = 0;
};

ir::Graph pointwise(const ir::Measurement& row, const Shape& shape) {
  GraphMaker maker(row);
  const Expr n = elements(maker, row);
  maker.op("elementwise", {{"n", n},
                           {"i", shape.read * n},
                           {"a", maker.number(shape.arithmetic)},
                           {"s", maker.number(shape.special)}});
  return maker.attribute("function", row.op).take();
}

ir::Graph reduction(const ir::Measurement& row, const char* kept) {
  GraphMaker maker(row);
  const Expr n = elements(maker, row);
  const Expr out = kept == nullptr ? maker.number(1) : maker.column(kept);
  maker.op("elementwise", {{"n", out}, {"i", n}, {"a", n / out}});
  return maker.attribute("function", row.op).take();
}

/// Rows of a trace may say that the norm adds to the residual stream first (residual 1).
ir::Graph normalisation(const ir::Measurement& row, double arithmetic, double bias) {
  GraphMaker maker(row);
  const auto residual = row.dims.find("residual");
  const bool adds = residual != row.dims.end() && residual->second > 0;
  const std::initializer_list<GraphMaker::Dim> dims = {{"r", maker.column("rows")},
                                                       {"c", maker.column("cols")},
                                                       {"a", maker.number(arithmetic)},
                                                       {"w", maker.number(1)},
                                                       {"residual", maker.number(adds ? 1 : 0)},
                                                       {"bias", maker.number(bias)}};
  if (adds) {
    maker.op("norm", dims, {}, {"gain", "residual"});
  } else if (bias > 0) {
    maker.op("norm", dims, {}, {"gain", "bias"});
  } else {
    maker.op("norm", dims, {}, {"gain"});
  }
  return maker.attribute("norm", row.op).take();
}

}  // namespace

ir::Graph add(const ir::Measurement& row) {
  return pointwise(row, {.read = 2, .arithmetic = 1});
}
ir::Graph arithmetic(const ir::Measurement& row) {
  return add(row);
}
ir::Graph triad(const ir::Measurement& row) {
  return pointwise(row, {.read = 2, .arithmetic = 2});
}
ir::Graph scalar_arithmetic(const ir::Measurement& row) {
  return pointwise(row, {.arithmetic = 1});
}
ir::Graph power(const ir::Measurement& row) {
  return pointwise(row, {.read = 2, .special = 2});
}
ir::Graph scalar_power(const ir::Measurement& row) {
  return pointwise(row, {.arithmetic = 1});
}
ir::Graph tanh(const ir::Measurement& row) {
  return pointwise(row, {.special = 1});
}
ir::Graph gelu(const ir::Measurement& row) {
  return pointwise(row, {.arithmetic = 4, .special = 1});
}
ir::Graph silu_mul(const ir::Measurement& row) {
  return pointwise(row, {.read = 2, .arithmetic = 3, .special = 2});
}
ir::Graph copy(const ir::Measurement& row) {
  return pointwise(row, {});
}
ir::Graph copy_rows(const ir::Measurement& row) {
  return pointwise(row, {});
}
ir::Graph fill(const ir::Measurement& row) {
  return pointwise(row, {.read = 0});
}

ir::Graph cast(const ir::Measurement& row) {
  GraphMaker maker(row);
  const Expr n = elements(maker, row);
  maker.op("elementwise", {{"n", n}, {"i", n}, {"a", maker.number(0)}},
           {{"o", ir::find_dtype("fp32")}});
  return maker.attribute("function", row.op).take();
}

ir::Graph sum(const ir::Measurement& row) {
  return reduction(row, nullptr);
}
ir::Graph row_sum(const ir::Measurement& row) {
  return reduction(row, "rows");
}
ir::Graph column_sum(const ir::Measurement& row) {
  return reduction(row, "cols");
}

ir::Graph rmsnorm(const ir::Measurement& row) {
  return normalisation(row, 3, 0);
}
ir::Graph layernorm(const ir::Measurement& row) {
  return normalisation(row, 5, 1);
}

ir::Graph softmax(const ir::Measurement& row) {
  GraphMaker maker(row);
  return maker.op("softmax", {{"r", maker.column("rows")}, {"c", maker.column("cols")}}).take();
}

/// `cols` is the width of a token's rotated rows together (heads x head dim).
ir::Graph rope(const ir::Measurement& row) {
  GraphMaker maker(row);
  return maker
      .op("rope",
          {{"t", maker.column("rows")}, {"r", maker.column("rows")}, {"d", maker.column("cols")}})
      .take();
}

ir::Graph embedding(const ir::Measurement& row) {
  GraphMaker maker(row);
  return maker
      .op("embedding",
          {{"t", maker.column("rows")}, {"c", maker.column("cols")}, {"n", maker.column("rows")}})
      .take();
}

}  // namespace mansard::validate::cases
