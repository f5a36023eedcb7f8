#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/verb.hpp"

/// Runs of `mansard trace` in tests, on files of their own.
namespace mansard::cli {

inline Outcome run_words(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"mansard"};
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  return run(static_cast<int>(argv.size()), argv.data());
}

inline nlohmann::json json_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  const Outcome outcome = run_words(words);
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return nlohmann::json::parse(outcome.out);
}

inline const char* shared_folder() {
  const char* folder = std::getenv("MANSARD_SHARED");
  if (folder == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
  }
  return folder;
}

/// A folder that goes with its files.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / name()) {
    std::filesystem::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string at(const std::string& file) const { return path_ / file; }
  std::string write(const std::string& file, const std::string& text) const {
    std::ofstream(at(file), std::ios::binary) << text;
    return at(file);
  }

 private:
  static std::string name() {
    static int made = 0;
    return "mansard-cli-test-" + std::to_string(::getpid()) + "-" + std::to_string(++made);
  }
  std::filesystem::path path_;
};

/// A step on two streams: a matmul, an all-reduce of 64 MiB that waits for it, a kernel that
/// nobody knows, a copy that the host waits for. Times in microseconds.
inline std::string small_trace() {
  return R"~({"schemaVersion": 1,
 "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132, "warpSize": 32, "computeMajor": 9,
   "computeMinor": 0, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472,
   "maxThreadsPerMultiprocessor": 2048, "totalGlobalMem": 85000000000}],
 "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 8},
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 0, "dur": 30,
  "args": {"External id": 1, "Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 5,
  "args": {"correlation": 1, "External id": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventRecord", "pid": 9, "tid": 9, "ts": 20, "dur": 2, "args": {"correlation": 2}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamWaitEvent", "pid": 9, "tid": 9, "ts": 25, "dur": 2, "args": {"correlation": 3}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 32, "dur": 5, "args": {"correlation": 4}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 40, "dur": 5, "args": {"correlation": 5}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 9, "tid": 9, "ts": 50, "dur": 5, "args": {"correlation": 6}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 9, "tid": 9, "ts": 60, "dur": 290, "args": {"correlation": 7}},
 {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 25, "dur": 2,
  "args": {"stream": 20, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2, "correlation": 3, "device": 0}},
 {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 60, "dur": 290,
  "args": {"stream": 7, "correlation": 7, "device": 0}},
 {"ph": "X", "cat": "kernel", "name": "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "pid": 0, "tid": 7, "ts": 18, "dur": 200,
  "args": {"device": 0, "stream": 7, "correlation": 1, "External id": 1, "grid": [132, 1, 1], "block": [384, 1, 1],
   "registers per thread": 168, "shared memory": 200000}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", "pid": 0, "tid": 20, "ts": 222,
  "dur": 400.5, "args": {"device": 0, "stream": 20, "correlation": 4, "Collective name": "allreduce",
   "In msg nelems": 33554432, "Out msg nelems": 33554432, "Group size": 8, "dtype": "BFloat16", "grid": [24, 1, 1], "block": [544, 1, 1]}},
 {"ph": "X", "cat": "kernel", "name": "my_own_thing", "pid": 0, "tid": 7, "ts": 220, "dur": 50,
  "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [100, 1, 1], "block": [256, 1, 1], "registers per thread": 32}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 272, "dur": 70,
  "args": {"device": 0, "stream": 7, "correlation": 6, "bytes": 3500000}}
 ]}
)~";
}

}  // namespace mansard::cli
