#include "cli/ptxas.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace mansard::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

struct Finished {
  int status = -1;
  std::string text;
};

/// A file without a name that holds `text`, at its beginning; -1 if there is none to be had.
int nameless_file(std::string_view text) {
  const int file = memfd_create("ptx", MFD_CLOEXEC);
  while (file >= 0 && !text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0) {
      close(file);
      return -1;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file >= 0) {
    lseek(file, 0, SEEK_SET);
  }
  return file;
}

/// Runs a program that reads the file `input`, which is closed; what it wrote to standard output
/// and error.
std::optional<Finished> run_program(std::vector<std::string> words, int input) {
  std::array<int, 2> ends{};
  if (input < 0 || pipe(ends.data()) != 0) {
    return std::nullopt;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  close(input);
  if (failed != 0) {
    close(ends[0]);
    return std::nullopt;
  }
  Finished finished;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = ends[0], .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
      kill(child, SIGKILL);
      break;
    }
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    if (got <= 0) {
      break;
    }
    finished.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, &finished.status, 0);
  return finished;
}

/// The number before `unit` in text behind `from`.
std::int64_t number_before(std::string_view text, std::string_view unit) {
  const std::size_t at = text.find(unit);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::size_t begin = at;
  while (begin > 0 && (std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0)) {
    --begin;
  }
  return std::atoll(std::string(text.substr(begin, at - begin)).c_str());
}

}  // namespace

std::optional<model::kernel::Resources> assemble(const std::string& text, const std::string& entry,
                                                 const std::string& target, std::string& why) {
  const auto finished = run_program(
      {"ptxas", "-arch=" + target, "-v", "--entry", entry, "-o", "/dev/null", "/dev/stdin"},
      nameless_file(text));
  if (!finished || (WIFEXITED(finished->status) && WEXITSTATUS(finished->status) == 127)) {
    why = "ptxas is not installed";
    return std::nullopt;
  }
  const std::size_t used = finished->text.find("Used ");
  if (!WIFEXITED(finished->status) || WEXITSTATUS(finished->status) != 0 ||
      used == std::string::npos) {
    why = "ptxas did not assemble it for " + target;
    return std::nullopt;
  }
  const std::string_view line = std::string_view(finished->text).substr(used);
  constexpr std::int64_t kFewest = 16;  // what the driver allocates at least
  return model::kernel::Resources{.registers = std::max(kFewest, number_before(line, " registers")),
                                  .static_shared = number_before(line, " bytes smem"),
                                  .assembled = true};
}

}  // namespace mansard::cli
