#include "cli/sweep/team.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "model/sweep/packing.hpp"
#include "support/plugin.hpp"

namespace mansard::cli {
namespace {

/// Whether a launcher of MPI processes started more than one.
bool is_launched() {
  constexpr std::array kSizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  return std::ranges::any_of(kSizes, [](const char* name) {
    const char* size = std::getenv(name);
    return size != nullptr && std::string_view(size) != "1";
  });
}

}  // namespace

Result<const model::Team*> join_team() {
  if (!is_launched()) {
    return nullptr;
  }
  return mpi_interface<model::Team>();
}

std::string pack_notes(const VariantMaker& maker) {
  model::Packer packer;
  packer.put(maker.outputs().size());
  for (const OutputName& output : maker.outputs()) {
    packer.put_text(output.name);
    packer.put(output.dimension);
  }
  packer.put(maker.errors().size());
  for (const Diagnostic& error : maker.errors()) {
    packer.put_texts({error.id, error.message, error.label});
  }
  return packer.bytes();
}

VariantNotes unpack_notes(std::string_view bytes) {
  model::Unpacker unpacker(bytes);
  VariantNotes notes;
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    std::string name(unpacker.text());
    notes.outputs.push_back({std::move(name), unpacker.get<Dimension>()});
  }
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    const auto texts = unpacker.texts();
    notes.errors.push_back({texts[0], texts[1], {}, texts[2]});
  }
  return notes;
}

}  // namespace mansard::cli
