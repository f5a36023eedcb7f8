#pragma once

#include <cstdint>
#include <vector>

#include "ir/timeline.hpp"
#include "model/project/replay.hpp"

/// What waited for what in a trace.
namespace mansard::model {

/// Calls and activities have two vertices each, their start and their end.
class Moments {
 public:
  explicit Moments(const ir::Timeline& timeline)
      : calls_(timeline.calls.size()), all_(calls_ + timeline.activities.size()) {}

  using Vertex = std::uint32_t;
  [[nodiscard]] Vertex call_start(std::size_t i) const { return static_cast<Vertex>(2 * i); }
  [[nodiscard]] Vertex call_end(std::size_t i) const { return static_cast<Vertex>(2 * i + 1); }
  [[nodiscard]] Vertex start(std::size_t i) const { return static_cast<Vertex>(2 * (calls_ + i)); }
  [[nodiscard]] Vertex end(std::size_t i) const {
    return static_cast<Vertex>(2 * (calls_ + i) + 1);
  }
  [[nodiscard]] std::size_t count() const { return 2 * all_; }
  [[nodiscard]] bool is_end(Vertex v) const { return v % 2 == 1; }
  [[nodiscard]] bool of_call(Vertex v) const { return v / 2 < calls_; }
  /// Place in the calls or activities of the timeline.
  [[nodiscard]] std::size_t index(Vertex v) const { return of_call(v) ? v / 2 : v / 2 - calls_; }

 private:
  std::size_t calls_;
  std::size_t all_;
};

struct Dependency {
  Moments::Vertex from = 0;
  Moments::Vertex to = 0;
  Cause cause = Cause::kActivity;
};

/// All dependencies of a timeline; they may run in a circle where clocks of host and device differ.
[[nodiscard]] std::vector<Dependency> dependencies(const ir::Timeline& timeline,
                                                   const ReplayOptions& options);

}  // namespace mansard::model
