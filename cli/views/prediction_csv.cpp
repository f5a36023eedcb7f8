#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/prediction.hpp"

namespace mansard::cli {
std::string prediction_csv(std::span<const model::Prediction> predictions) {
  std::string text =
      "machine,model,phase,batch,context,op,kind,count,flops,vector_flops,bytes,main_bytes,"
      "intensity,bound_s,low_s,estimate_s,high_s,binding\n";
  for (const model::Prediction& p : predictions) {
    const std::string head =
        fmt::format("{},{},{},{},{}", csv_field(p.machine.name), csv_field(p.model.name),
                    p.workload.phase, p.workload.batch, p.workload.context);
    for (const model::OpPrediction& op : p.ops) {
      text += fmt::format("{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{},{},{},{},{},{}\n", head,
                          csv_field(op.name), op.kind, op.count, op.flops, op.vector_flops,
                          op.bytes, op.main_bytes, op.intensity, op.bound_s, op.low_s,
                          op.estimate_s, op.high_s, op.binding);
    }
    const model::Prediction::Totals& t = p.totals;
    text += fmt::format("{},total,,1,{:.0f},{:.0f},{:.0f},{:.0f},{},{},{},{},{},\n", head, t.flops,
                        t.vector_flops, t.bytes, t.main_bytes, t.flops / t.bytes, t.bound_s,
                        t.low_s, t.estimate_s, t.high_s);
  }
  return text;
}

}  // namespace mansard::cli
