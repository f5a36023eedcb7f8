#include <cstdio>

#include "cli/verb.hpp"

int main(int argc, char** argv) {
  const mansard::cli::Outcome outcome = mansard::cli::run(argc, argv);
  std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout);
  std::fwrite(outcome.err.data(), 1, outcome.err.size(), stderr);
  return outcome.exit_code;
}
