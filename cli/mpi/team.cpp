#include "model/sweep/team.hpp"

#include <mpi.h>

#include "support/version.hpp"

namespace mansard::cli {
namespace {

/// MPI_COMM_WORLD, from its start to the end of the program.
class MpiTeam : public model::Team {
 public:
  MpiTeam() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTeam() override { MPI_Finalize(); }
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void send(int to, std::string_view bytes) const override {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }

  [[nodiscard]] Message receive() const override {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    return take(status);
  }

  [[nodiscard]] std::optional<Message> poll() const override {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &status);
    return is_there != 0 ? std::optional(take(status)) : std::nullopt;
  }

 private:
  static Message take(const MPI_Status& status) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Message message{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace mansard::cli

extern "C" const mansard::model::Team* mansard_team() {
  static const mansard::cli::MpiTeam team;
  return &team;
}

/// What the program asks first: whether this library is of its own version.
extern "C" const char* mansard_mpi_library_version() {
  return mansard::kVersion.data();
}
