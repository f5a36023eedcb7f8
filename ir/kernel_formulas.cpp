#include "ir/kernel_formulas.hpp"

#include <map>

#include "ir/kernel_symbolic.hpp"

namespace mansard::ir {
namespace {

class Formulas {
 public:
  Formulas(const Kernel& kernel, const KernelFlow& flow)
      : kernel_(kernel),
        flow_(flow),
        symbolic_(kernel, flow),
        pool_(symbolic_.pool()),
        block_of_(kernel.instructions.size()) {
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      for (std::uint32_t i = kernel.blocks[b].first;
           i < kernel.blocks[b].first + kernel.blocks[b].count; ++i) {
        block_of_[i] = b;
      }
    }
  }

  KernelFormulas run() {
    KernelFormulas result{.pool = pool_};
    trips_.resize(flow_.loops.size());
    for (std::uint32_t loop = 0; loop < flow_.loops.size(); ++loop) {
      trips_[loop] = symbolic_.trips(loop);
      if (!trips_[loop]) {
        result.unknowns.push_back("trip_" + loop_name(loop));
      }
    }
    regions(result);
    result.assumptions.assign(symbolic_.assumptions().begin(), symbolic_.assumptions().end());
    return result;
  }

 private:
  Expr runs_of(std::uint32_t loop) {
    Expr runs = pool_->constant(1);
    for (std::uint32_t each = loop; each != kNothing; each = flow_.loops[each].parent) {
      const Expr trips = trips_[each] ? trips_[each] : pool_->symbol("trip_" + loop_name(each));
      runs = trips * runs;
    }
    return runs;
  }

  void regions(KernelFormulas& result) {
    std::map<std::uint32_t, KernelRegion> by_loop;
    const auto region = [&](std::uint32_t loop) -> KernelRegion& {
      KernelRegion& each = by_loop[loop + 1];  // outside of loops first
      each.loop = loop;
      return each;
    };
    region(kNothing);
    for (std::uint32_t loop = 0; loop < flow_.loops.size(); ++loop) {
      region(loop);
    }
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      add(kernel_.instructions[i], region(flow_.loop_of[block_of_[i]]));
    }
    result.thread_instructions = pool_->constant(0);
    result.flops = pool_->constant(0);
    result.global_bytes = pool_->constant(0);
    for (auto& [key, each] : by_loop) {
      each.name = each.loop == kNothing ? "entry" : loop_name(each.loop);
      each.trips = each.loop == kNothing ? pool_->constant(1) : trips_[each.loop];
      each.runs = runs_of(each.loop);
      result.thread_instructions = result.thread_instructions + each.instructions * each.runs;
      result.flops = result.flops + (each.flops_fp32 + each.flops_fp64 + each.flops_fp16 +
                                     each.tensor_flops / 32) *
                                        each.runs;
      result.global_bytes =
          result.global_bytes + (each.global_load_bytes + each.global_store_bytes) * each.runs;
      result.regions.push_back(each);
    }
  }

  void add(const KernelInstruction& each, KernelRegion& region) const {
    const InstructionClass& kind = kernel_.classes[each.kind];
    region.instructions += kind.written;
    region.flops_fp32 += kind.flops_fp32;
    region.flops_fp64 += kind.flops_fp64;
    region.flops_fp16 += kind.flops_fp16;
    region.tensor_flops += kind.tensor_flops;
    if (each.access == kNothing) {
      return;
    }
    const KernelAccess& access = kernel_.accesses[each.access];
    const double bytes = access.shape == AccessShape::kFragment
                             ? access.bytes * access.rows * access.row_elements / 32.0
                             : access.bytes;
    if (access.space == MemorySpace::kShared) {
      region.shared_bytes += bytes;
    } else if (access.space == MemorySpace::kGlobal || access.space == MemorySpace::kGeneric) {
      (access.kind == AccessKind::kStore ? region.global_store_bytes : region.global_load_bytes) +=
          bytes;
    }
  }

  const Kernel& kernel_;
  const KernelFlow& flow_;
  Symbolic symbolic_;
  std::shared_ptr<ExprPool> pool_;
  std::vector<std::uint32_t> block_of_;
  std::vector<Expr> trips_;
};

}  // namespace

KernelFormulas formulas_of(const Kernel& kernel, const KernelFlow& flow) {
  return Formulas(kernel, flow).run();
}

}  // namespace mansard::ir
