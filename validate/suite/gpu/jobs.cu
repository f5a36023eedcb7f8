#include <algorithm>
#include <cstdio>
#include <fstream>

#include "validate/measure/isolate.hpp"
#include "validate/suite/gpu/lab.cuh"

namespace mansard::measure {
namespace {

/// A device that no longer answers fails everything: only a new process helps.
bool device_lost() {
  cudaGetLastError();
  return cudaDeviceSynchronize() != cudaSuccess;
}

class Runner {
 public:
  Runner(const Options& options, const std::string& file, std::span<const std::string_view> columns,
         const std::vector<Job>& jobs)
      : options_(options), file_(file), columns_(columns), jobs_(jobs), budget_(options.budget) {}

  [[nodiscard]] bool enough() const { return budget_.spent(); }

  /// In the child.
  Outcome run(int index) {
    const Job& job = jobs_[index];
    say(index);
    if (!lab_ && !open_lab()) {
      return Outcome::kHopeless;
    }
    try {
      return run(index, job);
    } catch (const Unsupported& reason) {
      note(job.name, "skipped", reason.what());
      return Outcome::kSkipped;
    } catch (const std::exception& error) {
      note(job.name, "failed", error.what());
      return device_lost() ? Outcome::kProcessLost : Outcome::kFailed;
    }
  }

  void lost(int index, const char* why) const { note(jobs_[index].name, "lost", why); }

 private:
  bool open_lab() {
    try {
      lab_ = std::make_unique<Lab>(options_, file_, columns_, budget_);
      return true;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "  cannot begin: %s\n", error.what());
      return false;
    }
  }

  Outcome run(int index, const Job& job) {
    constexpr Seconds kMost{0.5};
    const int left = job.one_row ? static_cast<int>(jobs_.size()) - index : 1;
    // Preparing an op takes about as long as its trials.
    lab_->allow(budget_.share(2 * left, kMost));
    lab_->arena().reset();
    job.run(*lab_);
    return Outcome::kDone;
  }

  /// On stderr, and a line of DIR/notes.txt.
  void note(const std::string& job, const char* how, const char* why) const {
    std::fprintf(stderr, "  %s: %s: %s\n", how, job.c_str(), why);
    std::ofstream(options_.out / "notes.txt", std::ios::app)
        << how << ": " << job << ": " << why << '\n';
  }

  void say(int index) const {
    std::fprintf(stderr, "[%d/%zu, %.0f s] %s\n", index + 1, jobs_.size(), budget_.used().count(),
                 jobs_[index].name.c_str());
  }

  Options options_;
  std::string file_;
  std::span<const std::string_view> columns_;
  const std::vector<Job>& jobs_;
  Budget budget_;
  std::unique_ptr<Lab> lab_;
};

}  // namespace

int run_jobs(const Options& options, const std::string& file,
             std::span<const std::string_view> columns, const std::vector<Job>& jobs) {
  if (options.list) {
    for (const Job& job : jobs) {
      std::printf("%s\n", job.name.c_str());
    }
    return 0;
  }
  Options in_child = options;
  {
    const ResultFile created(options.out / file, columns, options.resume);
    in_child.resume = true;
  }
  constexpr Seconds kPatience{120};
  Runner runner(in_child, file, columns, jobs);
  const int count = static_cast<int>(jobs.size());
  const Tally tally = run_isolated(
      count, [&](int job) { return runner.run(job); }, [&] { return runner.enough(); },
      [&](int job, const char* why) { runner.lost(job, why); }, kPatience);
  std::fprintf(stderr, "%s: %d of %d done, %d skipped, %d failed%s\n", file.c_str(), tally.done,
               count, tally.skipped, tally.failed, runner.enough() ? "; the budget is spent" : "");
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace mansard::measure
