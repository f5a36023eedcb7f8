#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/sweep/sweep.hpp"

namespace mansard::model {

/// Processes that do one sweep together, each with the same space and sink. Implemented over MPI in
/// libmansard_mpi.so; used from one thread.
class Team {
 public:
  static constexpr const char* kEntry = "mansard_team";

  struct Message {
    int from = 0;
    std::string bytes;
  };

  virtual ~Team() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void send(int to, std::string_view bytes) const = 0;
  /// The next message of any other, waited for.
  [[nodiscard]] virtual Message receive() const = 0;
  /// Likewise, if one is there.
  [[nodiscard]] virtual std::optional<Message> poll() const = 0;
};

/// What else goes with each part of the results from the process that evaluated it to the first.
struct TeamNotes {
  std::function<std::string()> write;
  std::function<bool(std::string_view)> read;  ///< False ends the sweep.
};

/// As run_sweep, its points shared out in chunks to whoever is free. Results come to the first
/// process, which takes them in order, so that they are those of one process to the bit; the other
/// processes return nothing.
[[nodiscard]] SweepCounts run_sweep_as_team(const SweepSpace& space, const VariantSource& source,
                                            SweepSink& sink, const SweepOptions& options,
                                            const Team& team, const TeamNotes& notes);

}  // namespace mansard::model
