#include "cli/sweep/progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace mansard::cli {

Progress::Progress(double points) : points_(points), visible_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (written_) {
    std::fputs("\r\033[K", stderr);
  }
}

void Progress::operator()(std::uint64_t done) {
  constexpr std::chrono::milliseconds kPause(200);
  const Clock::time_point now = Clock::now();
  if (!visible_ || now - shown_ < kPause) {
    return;
  }
  shown_ = now;
  written_ = true;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(done) / seconds;
  const double left = (points_ - static_cast<double>(done)) / rate;
  fmt::print(stderr, "\r{:.1f} % of {:.3g} points, {:.3g} M/s, {:.0f} s left\033[K",
             100 * static_cast<double>(done) / points_, points_, rate / 1e6, left);
  std::fflush(stderr);
}

}  // namespace mansard::cli
