#include "cli/sweep/interrupt.hpp"

#include <csignal>

namespace mansard::cli {

std::atomic<bool> interrupted{false};

extern "C" {
static void mansard_interrupt(int /*signal*/) {
  interrupted = true;
}
}

InterruptGuard::InterruptGuard()
    : interrupt_(std::signal(SIGINT, mansard_interrupt)),
      terminate_(std::signal(SIGTERM, mansard_interrupt)) {}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, interrupt_);
  std::signal(SIGTERM, terminate_);
}

}  // namespace mansard::cli
