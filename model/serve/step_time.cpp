#include "model/serve/step_time.hpp"

namespace mansard::model::serve {

std::uint64_t Batch::chunk_tokens() const {
  std::uint64_t sum = 0;
  for (const Chunk& chunk : chunks) {
    sum += chunk.tokens;
  }
  return sum;
}

void Batch::clear() {
  decodes.clear();
  chunks.clear();
}

}  // namespace mansard::model::serve
