#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"

/// What `mansard serve` was asked, as the user gave it.
namespace mansard::cli {

/// Options of an engine, as the user gave them; absent ones are the file's or vLLM's.
struct EngineOptions {
  std::string file;
  std::optional<std::int64_t> block_size, num_blocks, max_num_seqs, max_num_batched_tokens,
      max_model_len, long_prefill_threshold, draft_tokens;
  std::optional<double> memory_utilization, watermark, acceptance;
  std::string prefix_caching, chunked_prefill, async_scheduling;  ///< "on", "off" or "".
  std::string order, precedence, preemption;
  std::string host_time, host_time_per_sequence, swap_space, runtime_memory;
  std::string draft_model;
  bool enforce_eager = false;
};

struct ServeOptions {
  ModelOptions model;
  MachineOptions machine;
  EngineOptions engine;
  std::string requests;
  std::string arrivals;  ///< "" those of the trace; else "poisson", ...
  std::optional<double> rate;
  double scale = 1;
  double burstiness = 1;
  std::int64_t users = 1;
  std::string think_time = "0 s";
  std::optional<std::int64_t> num_requests;
  std::string input = "512";
  std::string output = "128";
  std::uint64_t seed = 0;
  std::int64_t replicas = 1;
  std::string router = "least-loaded";
  std::vector<std::string> pools;
  std::int64_t prefill_replicas = 0;
  std::string link = "50 GB/s";
  std::string link_latency = "10 us";
  std::string autoscale;
  std::string start_up = "60 s";
  double above = 64;
  double below = 16;
  std::vector<std::string> failures;
  std::string mtbf;
  std::string downtime = "60 s";
  std::string slo;
  double slo_share = 0.9;
  std::string against;
};

}  // namespace mansard::cli
