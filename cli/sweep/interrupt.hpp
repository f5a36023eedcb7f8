#pragma once

#include <atomic>

namespace mansard::cli {

/// Set by Ctrl-C, or by a launcher that ends its processes.
extern std::atomic<bool> interrupted;

/// While it lives, these signals set `interrupted` and nothing else.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

}  // namespace mansard::cli
