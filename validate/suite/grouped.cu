#include <algorithm>
#include <vector>

#include <cuda_bf16.h>

#include "validate/measure/routing.hpp"
#include "validate/suite/gpu/environment.cuh"
#include "validate/suite/matmul.cuh"
#include "validate/suite/ops.cuh"

namespace mansard::measure {
namespace {

struct Group {
  MatmulShape shape;
  Matmul matmul;
  std::int64_t first_row;
  std::int64_t expert;
};

std::vector<Group> make_groups(const std::vector<std::int64_t>& rows, const MatmulShape& of,
                               void* workspace) {
  std::vector<Group> groups;
  std::int64_t first = 0;
  for (std::size_t e = 0; e < rows.size(); ++e) {
    if (rows[e] > 0) {
      MatmulShape shape = of;
      shape.m = rows[e];
      groups.push_back({shape, Matmul(shape, workspace), first, static_cast<std::int64_t>(e)});
    }
    first += rows[e];
  }
  return groups;
}

}  // namespace

void measure_grouped_matmul(Lab& lab, const Row& row, bool) {
  if (row.text("dtype") != "bf16") {
    throw Unsupported("grouped matmuls are measured in bf16");
  }
  const std::int64_t experts = row.integer("experts");
  const std::int64_t n = row.integer("n");
  const std::int64_t k = row.integer("k");
  const std::int64_t routed = row.integer("tokens") * row.integer("top_k");
  const Spread spread = row.text("spread") == "zipf" ? Spread::kZipf : Spread::kUniform;
  const std::vector<std::int64_t> rows =
      rows_of_experts(experts, row.integer("tokens"), row.integer("top_k"), spread);
  const std::string implementation = "cublaslt-loop-" + cublaslt_name().substr(9);
  Row measured = row;
  measured.set("implementation", implementation)
      .set("mode", "graph")
      .set("cache", "cold")
      .set("experts_touched", std::int64_t{experts - std::ranges::count(rows, 0)});
  if (lab.skips(measured)) {
    return;
  }
  const std::vector<Group> groups =
      make_groups(rows, {"bf16", 1, n, k, 1}, lab.arena().take(Matmul::kWorkspaceBytes));
  double touched_bytes = 0;
  for (const Group& group : groups) {
    touched_bytes += 2.0 * static_cast<double>(group.shape.n * k);
  }
  const Rotation rotation = lab.rotation(touched_bytes);
  using Element = __nv_bfloat16;
  auto* const x = lab.arena().take_array<Element>(routed * k);
  auto* const y = lab.arena().take_array<Element>(routed * n);
  auto* const w = lab.arena().take_array<Element>(rotation.sets * experts * n * k);
  fill_random("bf16", x, routed * k, lab.seed(), lab.stream());
  fill_random("bf16", w, rotation.sets * experts * n * k, lab.seed(), lab.stream());
  poison(y, routed * n * sizeof(Element), lab.stream());
  const auto call = [&](cudaStream_t stream, int turn) {
    for (const Group& group : groups) {
      group.matmul.run(x + group.first_row * k, w + (turn * experts + group.expert) * n * k,
                       y + group.first_row * n, stream);
    }
  };
  call(lab.stream(), 0);
  for (const Group* group : {&groups.front(), &groups.back()}) {
    check_matmul(group->shape, x + group->first_row * k, w + group->expert * n * k,
                 y + group->first_row * n, lab.stream());
  }
  const int most_calls = std::max(1, 4000 / static_cast<int>(groups.size()));
  lab.record(measured, lab.time({call, rotation, most_calls}));
}

}  // namespace mansard::measure
