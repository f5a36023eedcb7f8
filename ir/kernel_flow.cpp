#include "ir/kernel_flow.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mansard::ir {
namespace {

using Edges = std::vector<std::vector<std::uint32_t>>;

Edges successors_of(const Kernel& kernel) {
  Edges successors(kernel.blocks.size());
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
    const KernelBlock& block = kernel.blocks[b];
    auto add = [&](std::uint32_t to) {
      if (std::find(successors[b].begin(), successors[b].end(), to) == successors[b].end()) {
        successors[b].push_back(to);
      }
    };
    if (!block.targets.empty()) {
      std::for_each(block.targets.begin(), block.targets.end(), add);
      continue;
    }
    add(block.taken);
    if (block.predicate != kNothing) {
      add(block.next);
    }
  }
  return successors;
}

/// Blocks reachable from `root`, each after all that it leads to but for back edges.
std::vector<std::uint32_t> post_order(const Edges& edges, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(edges.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == edges[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t to = edges[node][next++];
    if (!seen[to]) {
      seen[to] = true;
      stack.emplace_back(to, 0);
    }
  }
  return order;
}

/// Immediate dominators (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm); kNothing for
/// the root and for what it does not reach.
std::vector<std::uint32_t> dominators(const Edges& forward, std::uint32_t root) {
  const std::vector<std::uint32_t> order = post_order(forward, root);
  std::vector<std::uint32_t> number(forward.size(), kNothing);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    number[order[i]] = i;
  }
  Edges backward(forward.size());
  for (const std::uint32_t node : order) {
    for (const std::uint32_t to : forward[node]) {
      backward[to].push_back(node);
    }
  }
  std::vector<std::uint32_t> idom(forward.size(), kNothing);
  idom[root] = root;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) {
        a = idom[a];
      }
      while (number[b] < number[a]) {
        b = idom[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (*node == root) {
        continue;
      }
      std::uint32_t best = kNothing;
      for (const std::uint32_t from : backward[*node]) {
        if (idom[from] != kNothing) {
          best = best == kNothing ? from : meet(best, from);
        }
      }
      if (best != idom[*node]) {
        idom[*node] = best;
        changed = true;
      }
    }
  }
  idom[root] = kNothing;
  return idom;
}

/// Immediate post-dominators; the end of the kernel is a node of its own.
std::vector<std::uint32_t> post_dominators(const Edges& successors) {
  const auto end = static_cast<std::uint32_t>(successors.size());
  Edges reversed(successors.size() + 1);
  for (std::uint32_t b = 0; b < end; ++b) {
    for (const std::uint32_t to : successors[b]) {
      reversed[to == kNothing ? end : to].push_back(b);
    }
  }
  std::vector<std::uint32_t> idom = dominators(reversed, end);
  idom.pop_back();
  std::replace(idom.begin(), idom.end(), end, kNothing);
  return idom;
}

/// `order` numbers blocks so that dominators come first.
bool dominates(const std::vector<std::uint32_t>& idom, const std::vector<std::uint32_t>& order,
               std::uint32_t a, std::uint32_t b) {
  while (b != a && b != kNothing && order[b] > order[a]) {
    b = idom[b];
  }
  return b == a;
}

/// Blocks that lead to `latch` without the header; `seen_by` names for each block the header of the
/// last loop that it was put into.
void collect(const Edges& predecessors, std::uint32_t latch, std::vector<std::uint32_t>& seen_by,
             KernelLoop& loop) {
  std::vector<std::uint32_t> work{latch};
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    if (std::exchange(seen_by[block], loop.header) == loop.header) {
      continue;
    }
    loop.blocks.push_back(block);
    work.insert(work.end(), predecessors[block].begin(), predecessors[block].end());
  }
}

/// Without the ways out of the kernel.
Edges ways_within(const Edges& successors) {
  Edges within = successors;
  for (auto& each : within) {
    std::erase(each, kNothing);
  }
  return within;
}

std::vector<KernelLoop> natural_loops(const Edges& successors,
                                      const std::vector<std::uint32_t>& idom) {
  const Edges within = ways_within(successors);
  Edges predecessors(successors.size());
  const std::vector<std::uint32_t> last_first = post_order(within, 0);
  std::vector<std::uint32_t> order(successors.size());
  for (std::uint32_t i = 0; i < last_first.size(); ++i) {
    order[last_first[i]] = static_cast<std::uint32_t>(last_first.size()) - i;
    for (const std::uint32_t to : within[last_first[i]]) {
      predecessors[to].push_back(last_first[i]);
    }
  }
  std::vector<KernelLoop> loops;
  std::vector<std::uint32_t> seen_by(successors.size(), kNothing);
  for (std::uint32_t header = 0; header < successors.size(); ++header) {
    KernelLoop loop{.header = header, .blocks = {header}};
    for (const std::uint32_t latch : predecessors[header]) {
      if (dominates(idom, order, header, latch)) {
        seen_by[header] = header;
        collect(predecessors, latch, seen_by, loop);
      }
    }
    const bool itself =
        std::find(within[header].begin(), within[header].end(), header) != within[header].end();
    if (loop.blocks.size() > 1 || itself) {
      std::sort(loop.blocks.begin(), loop.blocks.end());
      loops.push_back(std::move(loop));
    }
  }
  return loops;
}

void nest(KernelFlow& flow, std::size_t blocks) {
  flow.loop_of.assign(blocks, kNothing);
  std::vector<std::uint32_t> by_size(flow.loops.size());
  for (std::uint32_t i = 0; i < by_size.size(); ++i) {
    by_size[i] = i;
  }
  std::sort(by_size.begin(), by_size.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::size_t x = flow.loops[a].blocks.size();
    const std::size_t y = flow.loops[b].blocks.size();
    return x != y ? x > y : a < b;
  });
  for (const std::uint32_t loop : by_size) {
    KernelLoop& each = flow.loops[loop];
    each.parent = flow.loop_of[each.header];
    each.depth = each.parent == kNothing ? 1 : flow.loops[each.parent].depth + 1;
    for (const std::uint32_t block : each.blocks) {
      flow.loop_of[block] = loop;
    }
  }
}

/// Numbers loops so that those inside one are a range.
void number_loops(std::vector<KernelLoop>& loops) {
  std::vector<std::vector<std::uint32_t>> inner(loops.size());
  std::vector<std::uint32_t> work;
  for (std::uint32_t i = 0; i < loops.size(); ++i) {
    (loops[i].parent == kNothing ? work : inner[loops[i].parent]).push_back(i);
  }
  std::vector<std::uint32_t> order;
  while (!work.empty()) {
    const std::uint32_t loop = work.back();
    work.pop_back();
    loops[loop].number = loops[loop].last = static_cast<std::uint32_t>(order.size());
    order.push_back(loop);
    work.insert(work.end(), inner[loop].begin(), inner[loop].end());
  }
  for (auto loop = order.rbegin(); loop != order.rend(); ++loop) {
    if (loops[*loop].parent != kNothing) {
      std::uint32_t& last = loops[loops[*loop].parent].last;
      last = std::max(last, loops[*loop].last);
    }
  }
}

void for_each_read(const Kernel& kernel, const KernelInstruction& each,
                   const std::function<void(std::uint32_t)>& visit) {
  const auto operand = [&](const KernelOperand& o) {
    if (o.kind == KernelOperand::Kind::kRegister) {
      visit(o.id);
    }
  };
  if (each.op != KernelOp::kOpaque) {
    std::for_each(each.operands.begin(), each.operands.end(), operand);
  }
  if (each.guard != kNothing) {
    visit(each.guard);
  }
  if (each.access != kNothing) {
    const KernelAccess& access = kernel.accesses[each.access];
    operand(access.address);
    operand(access.stride);
    operand(access.shared_address);
    operand(access.size);
  }
}

/// The registers that branches and addresses depend on, and the instructions that compute them.
void slice(const Kernel& kernel, KernelFlow& flow) {
  flow.tracked.assign(kernel.registers.size(), false);
  flow.step.assign(kernel.instructions.size(), false);
  Edges writers(kernel.registers.size());
  std::vector<std::uint32_t> work;
  const auto need = [&](std::uint32_t reg) {
    if (!flow.tracked[reg]) {
      flow.tracked[reg] = true;
      work.push_back(reg);
    }
  };
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const KernelInstruction& each = kernel.instructions[i];
    for (const std::uint32_t to : {each.destination, each.destination2}) {
      if (to != kNothing) {
        writers[to].push_back(i);
      }
    }
    if (each.access != kNothing || each.guard != kNothing) {
      flow.step[i] = true;
      KernelInstruction address_only = each;
      address_only.op = KernelOp::kOpaque;
      for_each_read(kernel, address_only, need);
    }
  }
  for (const KernelBlock& block : kernel.blocks) {
    if (block.predicate != kNothing) {
      need(block.predicate);
    }
  }
  while (!work.empty()) {
    const std::uint32_t reg = work.back();
    work.pop_back();
    for (const std::uint32_t i : writers[reg]) {
      flow.step[i] = true;
      for_each_read(kernel, kernel.instructions[i], need);
    }
  }
}

/// Tracked registers alive at the start of each block.
std::vector<std::vector<bool>> live_in(const Kernel& kernel, const KernelFlow& flow) {
  const std::size_t blocks = kernel.blocks.size();
  const std::size_t registers = kernel.registers.size();
  std::vector<std::vector<bool>> use(blocks, std::vector<bool>(registers));
  std::vector<std::vector<bool>> kill = use;
  for (std::size_t b = 0; b < blocks; ++b) {
    const KernelBlock& block = kernel.blocks[b];
    const auto read = [&](std::uint32_t reg) {
      if (!kill[b][reg]) {
        use[b][reg] = true;
      }
    };
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      const KernelInstruction& each = kernel.instructions[i];
      if (!flow.step[i]) {
        continue;
      }
      for_each_read(kernel, each, read);
      for (const std::uint32_t to : {each.destination, each.destination2}) {
        if (to != kNothing && each.guard == kNothing) {
          kill[b][to] = true;
        }
      }
    }
    if (block.predicate != kNothing) {
      read(block.predicate);
    }
  }
  std::vector<std::vector<bool>> live = use;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      for (const std::uint32_t to : flow.successors[b]) {
        if (to == kNothing) {
          continue;
        }
        for (std::size_t r = 0; r < registers; ++r) {
          if (live[to][r] && !kill[b][r] && !live[b][r]) {
            live[b][r] = true;
            changed = true;
          }
        }
      }
    }
  }
  return live;
}

void find_carried(const Kernel& kernel, KernelFlow& flow) {
  if (flow.loops.empty()) {
    return;
  }
  const std::vector<std::vector<bool>> live = live_in(kernel, flow);
  for (KernelLoop& loop : flow.loops) {
    std::vector<bool> written(kernel.registers.size());
    for (const std::uint32_t b : loop.blocks) {
      const KernelBlock& block = kernel.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        for (const std::uint32_t to :
             {kernel.instructions[i].destination, kernel.instructions[i].destination2}) {
          if (to != kNothing && flow.step[i] && flow.tracked[to]) {
            written[to] = true;
          }
        }
        loop.waits = loop.waits || kernel.instructions[i].op == KernelOp::kAlways;
      }
    }
    for (std::uint32_t r = 0; r < written.size(); ++r) {
      if (written[r]) {
        loop.modified.push_back(r);
        if (live[loop.header][r]) {
          loop.carried.push_back(r);
        }
      }
    }
  }
}

}  // namespace

bool KernelFlow::inside(std::uint32_t loop, std::uint32_t block) const {
  if (loop == kNothing) {
    return block != kNothing;
  }
  const std::uint32_t innermost = block == kNothing ? kNothing : loop_of[block];
  return innermost != kNothing && loops[innermost].number >= loops[loop].number &&
         loops[innermost].number <= loops[loop].last;
}

KernelFlow analyse_flow(const Kernel& kernel) {
  KernelFlow flow;
  flow.successors = successors_of(kernel);
  flow.post_dominator = post_dominators(flow.successors);
  flow.dominator = dominators(ways_within(flow.successors), 0);
  flow.loops = natural_loops(flow.successors, flow.dominator);
  nest(flow, kernel.blocks.size());
  number_loops(flow.loops);
  slice(kernel, flow);
  find_carried(kernel, flow);
  return flow;
}

std::string loop_name(std::uint32_t loop) {
  return "L" + std::to_string(loop + 1);
}

}  // namespace mansard::ir
