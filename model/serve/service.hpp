#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/request.hpp"
#include "model/serve/distribution.hpp"
#include "model/serve/engine.hpp"
#include "model/serve/engine_settings.hpp"
#include "model/serve/step_time.hpp"
#include "model/serve/timeline.hpp"

/// A service: pools of replicas behind a router, simulated event by event.
///
///     const ServiceReport report = simulate(service, source, {});
namespace mansard::model::serve {

enum class Role : std::uint8_t { kBoth, kPrefill, kDecode };

/// How the router chooses a replica.
enum class Router : std::uint8_t {
  kRoundRobin,
  kLeastLoaded,  ///< Fewest requests.
  kKvAware,      ///< Fewest prompt tokens to compute, what its prefix cache holds left out.
  kUser,         ///< Always the same replica for a user.
};

/// Replicas that are alike.
struct Pool {
  std::string name;  ///< The machine's.
  Role role = Role::kBoth;
  std::uint32_t replicas = 1;
  EngineSettings settings;
  StepTimer* timer = nullptr;
  StepTimer* draft = nullptr;  ///< Of the drafting model; null: drafts cost nothing.
  std::uint64_t blocks = 0;    ///< Of a replica.
  std::uint64_t host_blocks = 0;
  double block_bytes = 0;                ///< Of a replica, all its devices.
  double swap_bytes_per_second = 0;      ///< Of a replica.
  double stages = 1;                     ///< Pipeline stages: iterations in flight.
  double gpus = 1;                       ///< Of a replica.
  std::optional<double> usd_per_second;  ///< Of a replica.
  std::optional<double> idle_watts;      ///< Of a replica.
};

/// The link over which a prompt's keys and values go from the replica that computed them.
struct TransferLink {
  double bytes_per_second = 50e9;
  double latency = 10e-6;  ///< Seconds.
};

struct Autoscaling {
  std::uint32_t least = 1;
  std::uint32_t most = 1;  ///< Equal to `least`: none.
  double interval = 10;    ///< Seconds between decisions.
  double start_up = 60;    ///< Seconds until a replica started can serve.
  double above = 64;       ///< Requests a replica above which one is started,
  double below = 16;       ///< and below which one is let go.
};

struct Failure {
  double time = 0;
  std::uint32_t replica = 0;  ///< Counts all replicas, pool by pool.
  double downtime = 60;       ///< Seconds.
};

/// Latencies that a request must keep to count as good; absent ones do not matter. Seconds.
struct Objectives {
  std::optional<double> ttft, tpot, latency;
  double share = 0.9;  ///< Of the requests, for a load to count as served.
  [[nodiscard]] bool any() const { return ttft || tpot || latency; }
};

struct Service {
  std::vector<Pool> pools;
  Router router = Router::kLeastLoaded;
  TransferLink link;
  Autoscaling autoscaling;
  std::vector<Failure> failures;
  std::optional<double> mean_time_between_failures;  ///< Of a replica; seconds.
  double downtime = 60;
  Objectives objectives;
  std::uint64_t seed = 0;
};

/// One request as it was served.
struct Served {
  const ir::Request* request = nullptr;
  double admitted = 0;
  double first_token = 0;
  double finished = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t preemptions = 0;
  std::uint32_t replica = 0;

  [[nodiscard]] double ttft() const { return first_token - request->arrival; }
  [[nodiscard]] double latency() const { return finished - request->arrival; }
  /// Of more than one output token.
  [[nodiscard]] std::optional<double> tpot() const;
};

enum class EventKind : std::uint8_t {
  kArrival,
  kRejected,
  kAdmitted,
  kFirstToken,
  kPreempted,
  kHandedOver,
  kTransferred,
  kFinished,
  kIteration,
  kFailure,
  kRecovery,
  kStarted,
  kStopped
};

struct Event {
  EventKind kind = EventKind::kArrival;
  double time = 0;
  double end = 0;  ///< kIteration.
  std::uint32_t replica = 0;
  std::uint64_t request = 0;
  std::uint32_t decodes = 0;  ///< kIteration: sequences that decode,
  std::uint32_t chunks = 0;   ///< chunks of prompts
  std::uint64_t tokens = 0;   ///< and new tokens of both.
  double kv_used = 0;         ///< kIteration: share of the blocks.
  std::string_view reason;    ///< kRejected.
};

/// Who is told what as it happens; empty functions are not called.
struct Listeners {
  std::function<void(const Served&)> served;
  std::function<void(const ir::Request&, std::string_view)> rejected;
  std::function<void(const Event&)> event;
};

struct ServiceReport {
  std::uint64_t requests = 0;
  std::uint64_t completed = 0;
  std::map<std::string, std::uint64_t, std::less<>> rejected;  ///< By reason.
  std::uint64_t good = 0;                                      ///< Completed within the objectives.
  std::uint64_t input_tokens = 0;   ///< Of the completed; so are the next two.
  std::uint64_t cached_tokens = 0;  ///< Of them, found in a prefix cache.
  std::uint64_t output_tokens = 0;
  std::uint64_t rejected_input_tokens = 0;
  std::uint64_t rejected_output_tokens = 0;
  Distribution ttft, tpot, itl, latency, queueing;
  EngineCounts counts;
  std::uint64_t evictions = 0;
  std::uint64_t transfers = 0;
  std::uint64_t failures = 0;
  double makespan = 0;      ///< From the first arrival to the last answer.
  double busy_seconds = 0;  ///< Sum over replicas of the times of their iterations.
  double on_seconds = 0;    ///< Sum over replicas of the time that they were on.
  double gpu_seconds = 0;   ///< The same, times GPUs.
  double gpus = 0;          ///< At the start.
  std::uint32_t most_replicas = 0;
  double prompt_seconds = 0;  ///< Of `busy_seconds`, of prompts.
  std::optional<double> usd;
  double joules = 0;
  bool has_energy = false;
  std::vector<std::string> resources;
  Timeline timeline{0};
  std::uint64_t leaked_blocks = 0;  ///< In use at the end; must be 0.

  [[nodiscard]] std::uint64_t rejections() const;
  [[nodiscard]] double output_tokens_per_second() const;
};

/// Serves all of `source`. The same arguments give the same report, bit for bit.
[[nodiscard]] ServiceReport simulate(const Service& service, ir::RequestSource& source,
                                     const Listeners& listeners);

}  // namespace mansard::model::serve
