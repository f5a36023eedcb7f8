#pragma once

#include "cli/sweep/variants.hpp"
#include "model/sweep/team.hpp"
#include "support/result.hpp"

namespace mansard::cli {

/// The processes that mpirun started beside this one; null if this one is alone. Errors: started by
/// mpirun, but mansard was built without MPI.
[[nodiscard]] Result<const model::Team*> join_team();

/// Outputs and mistakes that a process's variants found, for the first process.
struct VariantNotes {
  std::vector<OutputName> outputs;
  Diagnostics errors;
};
[[nodiscard]] std::string pack_notes(const VariantMaker& maker);
[[nodiscard]] VariantNotes unpack_notes(std::string_view bytes);

}  // namespace mansard::cli
