#pragma once

#include <string>

#include "support/result.hpp"

/// Shared libraries opened when first needed, so that the program itself neither links what they
/// stand on nor waits for it: libmansard_llvm.so (LLVM: `model/compile/`, `frontend/llvm/`) and,
/// where it was built, libmansard_mpi.so (MPI: `cli/mpi/`).
///
/// An interface is an abstract class whose `kEntry` names an extern "C" function of the library,
/// which returns its one instance:
///
///     struct Squarer {
///       static constexpr const char* kEntry = "mansard_squarer";
///       virtual double square(double x) const = 0;
///     };
///     Result<const Squarer*> squarer = llvm_interface<Squarer>();   // in the program
///
///     extern "C" const Squarer* mansard_squarer() {...}             // in the library
namespace mansard {

/// The address of an exported function of libmansard_llvm.so, which stays open from then on. It is
/// looked for as `MANSARD_LLVM` says (a file), beside the program, in ../lib of it, where it was
/// installed and where the system looks. Errors: not there, not loadable, of another version of
/// mansard; all say what was tried.
[[nodiscard]] Result<void*> llvm_symbol(const char* name);

template <typename Interface>
[[nodiscard]] Result<const Interface*> llvm_interface() {
  auto symbol = llvm_symbol(Interface::kEntry);
  if (!symbol) {
    return failure(std::move(symbol.error()));
  }
  return reinterpret_cast<const Interface* (*)()>(*symbol)();
}

/// Likewise of libmansard_mpi.so, looked for as `MANSARD_MPI` says and then in the same places.
[[nodiscard]] Result<void*> mpi_symbol(const char* name);

template <typename Interface>
[[nodiscard]] Result<const Interface*> mpi_interface() {
  auto symbol = mpi_symbol(Interface::kEntry);
  if (!symbol) {
    return failure(std::move(symbol.error()));
  }
  return reinterpret_cast<const Interface* (*)()>(*symbol)();
}

}  // namespace mansard
