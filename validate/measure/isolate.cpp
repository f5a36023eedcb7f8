#include "validate/measure/isolate.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "validate/measure/row.hpp"

namespace mansard::measure {
namespace {

/// What parent and child share.
struct Board {
  std::atomic<int> job = 0;
  std::atomic<int> done = 0;
  std::atomic<int> skipped = 0;
  std::atomic<int> failed = 0;
};

constexpr int kExitFinished = 0;
constexpr int kExitLost = 3;

class SharedBoard {
 public:
  SharedBoard()
      : memory_(mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {
    if (memory_ == MAP_FAILED) {
      throw UsageError("cannot map memory to share with a child process");
    }
    board_ = new (memory_) Board;
  }
  ~SharedBoard() { munmap(memory_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* operator->() { return board_; }

 private:
  void* memory_;
  Board* board_ = nullptr;
};

[[noreturn]] void run_child(SharedBoard& board, int first, int count,
                            const std::function<Outcome(int)>& run,
                            const std::function<bool()>& enough) {
  // Nobody is left to tell when the parent is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int job = first; job < count && !enough(); ++job) {
    board->job = job;
    const Outcome outcome = run(job);
    board->done += outcome == Outcome::kDone ? 1 : 0;
    board->skipped += outcome == Outcome::kSkipped ? 1 : 0;
    board->failed += outcome == Outcome::kFailed || outcome == Outcome::kHopeless ? 1 : 0;
    if (outcome == Outcome::kHopeless) {
      break;
    }
    if (outcome == Outcome::kProcessLost) {
      std::fflush(nullptr);
      _exit(kExitLost);
    }
  }
  std::fflush(nullptr);
  _exit(kExitFinished);
}

/// Waits for the child; kills it when it stays at one job for longer than `patience`. The status of
/// waitpid.
int wait_for(pid_t child, SharedBoard& board, Seconds patience) {
  int status = 0;
  int job = board->job;
  Seconds since = steady_now();
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (board->job != job) {
      job = board->job;
      since = steady_now();
    } else if (steady_now() - since > patience) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
  }
  return status;
}

const char* why(int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGKILL ? "took too long, or was killed"
                                       : strsignal(WTERMSIG(status));
  }
  return "the device was lost";
}

}  // namespace

Tally run_isolated(int count, const std::function<Outcome(int)>& run,
                   const std::function<bool()>& enough,
                   const std::function<void(int, const char*)>& lost, Seconds patience) {
  SharedBoard board;
  for (int next = 0; next < count;) {
    board->job = next;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      run_child(board, next, count, run, enough);
    }
    const int status = child < 0 ? 0 : wait_for(child, board, patience);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kExitFinished) {
      break;
    }
    ++board->failed;
    lost(board->job, why(status));
    next = board->job + 1;
  }
  return {board->done, board->skipped, board->failed};
}

}  // namespace mansard::measure
