#pragma once

#include <cstdint>
#include <vector>

#include "ir/request.hpp"
#include "model/serve/block_pool.hpp"

namespace mansard::model::serve {

/// A request on its way through the replicas. Times are seconds; negative: not yet.
struct Sequence {
  // What every iteration reads comes first.
  std::uint32_t generated = 0;     ///< Tokens that came out.
  std::uint32_t scheduled = 0;     ///< The same, with those that are being computed.
  std::uint32_t computed = 0;      ///< Tokens whose keys and values are in blocks, or will be.
  std::uint32_t in_flight = 0;     ///< Iterations being computed that it is part of.
  std::uint64_t scheduled_in = 0;  ///< The last call of `schedule` that gave it tokens.
  double last_token = -1;
  std::vector<BlockPool::Block> blocks;
  ir::Request request;

  std::uint64_t turn = 0;    ///< Counts requests in order of arrival at the service.
  std::uint32_t remote = 0;  ///< Tokens whose keys and values another replica sends along.
  std::uint32_t cached = 0;  ///< Prompt tokens found in the prefix cache, when first admitted.
  std::uint32_t preemptions = 0;
  std::uint32_t named = 0;    ///< Blocks whose content has a name.
  std::uint32_t swapped = 0;  ///< Blocks on the host.
  bool running = false;
  bool handed_over = false;  ///< Its blocks are being sent to another replica.
  double admitted = -1;      ///< First scheduled.
  double first_token = -1;

  /// Prompt and outputs that the next iteration may attend to.
  [[nodiscard]] std::uint32_t known() const { return request.input_tokens + scheduled; }
  [[nodiscard]] bool finished() const { return generated >= request.output_tokens; }
};

}  // namespace mansard::model::serve
