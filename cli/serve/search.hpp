#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/serve/server.hpp"

namespace mansard::cli {

/// One service of a sweep: its options, and those that differ, by name.
struct SweepPoint {
  ServeOptions options;
  std::vector<std::pair<std::string, std::string>> varied;
};

/// All combinations of `--vary OPTION=A,B,...` and of several machines, the last varying fastest.
/// Errors: an option that cannot be varied (naming those that can), a value it does not take.
[[nodiscard]] Result<std::vector<SweepPoint>> sweep_points(const ServeOptions& options,
                                                           const std::vector<std::string>& vary);

/// The service with the fewest replicas ("gpus"), the highest rate ("rate") or the largest
/// max_num_seqs ("batch") at which the objectives' share of requests is good, by bisection over
/// simulations. Errors: no objectives; nothing meets them.
[[nodiscard]] Result<ServeAnswer> find_best(Server& server, const ServeOptions& options,
                                            const std::string& what);

}  // namespace mansard::cli
