#include "cli/process.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mansard::cli {
namespace {

/// An open file, closed at the end of its scope; none if negative.
class OpenFile {
 public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() { close_now(); }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

  void close_now() {
    if (is_open()) {
      close(std::exchange(number_, -1));
    }
  }

 private:
  int number_;
};

/// Which files a program gets as its standard streams.
class Streams {
 public:
  Streams() { posix_spawn_file_actions_init(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  Streams(Streams&&) = delete;
  Streams& operator=(Streams&&) = delete;
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }

  void give(const OpenFile& file, int stream) {
    posix_spawn_file_actions_adddup2(&actions_, file.number(), stream);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A file without a name that holds `text`, at its beginning; not open if there is none to be had.
OpenFile nameless_file(std::string_view text) {
  OpenFile file(memfd_create("input", MFD_CLOEXEC));
  while (file.is_open() && !text.empty()) {
    const ssize_t written = write(file.number(), text.data(), text.size());
    if (written <= 0) {
      return OpenFile();
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.is_open()) {
    lseek(file.number(), 0, SEEK_SET);
  }
  return file;
}

/// Starts a program; its process, or nullopt.
std::optional<pid_t> start(std::vector<std::string>& words, const Streams& streams) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments.front(), streams.get(), nullptr, arguments.data(), environ) !=
      0) {
    return std::nullopt;
  }
  return child;
}

/// Waits for the end of a process; its exit code, -1 if a signal ended it.
int wait_for(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Reads a pipe to its end into `text`; false if that is not reached before the deadline.
bool read_all(const OpenFile& pipe, std::chrono::steady_clock::time_point deadline,
              std::string& text) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = pipe.number(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    const ssize_t got = read(pipe.number(), buffer.data(), buffer.size());
    if (got <= 0) {
      return true;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<Finished> run_program(std::vector<std::string> words) {
  const auto child = start(words, Streams());
  if (!child) {
    return std::nullopt;
  }
  return Finished{.code = wait_for(*child), .text = {}};
}

std::optional<Finished> run_program(std::vector<std::string> words, std::string_view input,
                                    std::chrono::milliseconds patience) {
  const OpenFile in = nameless_file(input);
  std::array<int, 2> ends{};
  if (!in.is_open() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const OpenFile from_child(ends[0]);
  OpenFile to_us(ends[1]);
  Streams streams;
  streams.give(in, STDIN_FILENO);
  streams.give(to_us, STDOUT_FILENO);
  streams.give(to_us, STDERR_FILENO);
  const auto child = start(words, streams);
  to_us.close_now();  // so that the child's end is the pipe's
  if (!child) {
    return std::nullopt;
  }
  Finished finished;
  if (!read_all(from_child, std::chrono::steady_clock::now() + patience, finished.text)) {
    kill(*child, SIGKILL);
  }
  finished.code = wait_for(*child);
  return finished;
}

}  // namespace mansard::cli
