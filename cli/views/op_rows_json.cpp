#include "cli/views/json.hpp"
#include "cli/views/op_rows.hpp"

namespace mansard::cli {
namespace {

void add_text(Json& json, const char* column, const std::string& text) {
  if (!text.empty()) {
    json[column] = text;
  }
}

Json row_json(const validate::OpRow& row) {
  Json json = {{"name", row.name}, {"count", row.count}, {"op", row.shape.op}};
  add_text(json, "dtype", row.shape.dtype);
  add_text(json, "out_dtype", row.shape.out_dtype);
  add_text(json, "kv_dtype", row.shape.kv_dtype);
  add_text(json, "phase", row.shape.phase);
  for (const auto& [column, value] : row.shape.dims) {
    json[column] = json_number(value);
  }
  add_text(json, "difference", row.difference);
  return json;
}

}  // namespace

std::string op_rows_json(const model::Prediction& prediction,
                         std::span<const validate::OpRow> rows) {
  Json ops = Json::array();
  for (const validate::OpRow& row : rows) {
    ops.push_back(row_json(row));
  }
  return json_text({{"schema", "mansard.ops/1"},
                    {"model", prediction.model.name},
                    {"machine", prediction.machine.name},
                    {"workload",
                     {{"phase", prediction.workload.phase},
                      {"batch", prediction.workload.batch},
                      {"context", prediction.workload.context}}},
                    {"ops", std::move(ops)}});
}

}  // namespace mansard::cli
