#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What a profiler saw, as plain events. Readers hand them on one at a time, so that a file of
/// gigabytes needs no more memory than a small one. Times are integer nanoseconds.
namespace mansard::ir {

/// A GPU as the profiler describes it; 0 or "" where it does not say.
struct TraceDevice {
  std::int64_t id = 0;
  std::string name;  ///< "NVIDIA H200".
  std::int64_t sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t bandwidth = 0;  ///< Byte per second.
  std::int64_t clock_hz = 0;
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
  std::int64_t warp_size = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t shared_per_sm = 0;  ///< Byte.
  std::int64_t threads_per_sm = 0;
};

/// Facts of one file.
struct TraceRun {
  std::string file;
  std::string format;        ///< "kineto", "nsys", "ncu".
  std::string producer;      ///< Version of the program that wrote it, as it says.
  std::int64_t base_ns = 0;  ///< Unix time that event times count from; 0: they are absolute.
  std::int64_t rank = -1;    ///< Of a distributed job; -1 where the file does not say.
  std::int64_t world_size = 0;
  bool clocks_locked = false;  ///< Taken at a fixed clock: its times are not those of a free run.
  bool has_timeline = true;    ///< False: kernels one by one with counters, start times unknown.
};

enum class TraceEventKind : std::uint8_t {
  kKernel,
  kCopy,
  kMemset,
  kSynchronisation,
  kLaunch,      ///< A call of the runtime or driver.
  kOp,          ///< An operator of a framework.
  kAnnotation,  ///< A range that a program named: NVTX, record_function.
};

/// Threads or blocks per dimension.
using Extent = std::array<std::int64_t, 3>;

/// One interval. Texts are those of the reader and valid during the call that hands the event on.
struct TraceEvent {
  TraceEventKind kind = TraceEventKind::kKernel;
  std::string_view name;
  std::string_view short_name;  ///< Kernels: without template arguments; "": not given.
  std::string_view category;    ///< Annotations: what the file calls them.
  std::string_view shapes;      ///< Ops: dims of the inputs as JSON; "" where not recorded.
  std::string_view dtypes;      ///< Ops: types of the inputs as JSON.
  std::string_view collective;  ///< Communication kernels: what the file says of them, as JSON.
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t process = 0;  ///< 0: not given.
  std::int64_t thread = 0;   ///< Ops, launches, annotations.
  std::int64_t device = -1;  ///< Of what runs on a GPU; -1: on the host.
  std::int64_t context = 0;
  std::int64_t stream = -1;
  std::optional<std::int64_t> correlation;  ///< Joins a launch and what it launched.
  std::optional<std::int64_t> external;     ///< Joins an op and what it launched.
  std::optional<std::int64_t> graph_node;   ///< Of a kernel launched by a CUDA graph.
  Extent grid{};
  Extent block{};
  std::int64_t registers = 0;  ///< Per thread.
  std::int64_t shared_static =
      0;  ///< Byte per block; all of it where the file does not tell apart.
  std::int64_t shared_dynamic = 0;  ///< Byte per block.
  std::int64_t bytes = 0;           ///< Copies and memsets.
  std::string_view copy_kind;       ///< "HtoD".
  /// Synchronisations: the stream whose work was waited for; nullopt: all of the device's.
  std::optional<std::int64_t> awaited_stream;
  /// Synchronisations with an event: correlation of the call that recorded it.
  std::optional<std::int64_t> awaited_correlation;
};

/// A hardware counter of one kernel, in base units: byte, second, hertz, percent as written.
struct TraceCounter {
  std::string_view metric;
  std::string_view unit;
  double value = 0;
  std::string_view text;  ///< Of a metric that is no number.
};

/// How an event ended up linked.
enum class TraceLink : std::uint8_t { kNone, kCorrelation, kExternal, kFlow };

/// Takes what a reader reads.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void device(const TraceDevice& device) = 0;
  /// Returns the event's number within its kind, from 1.
  virtual std::int64_t event(const TraceEvent& event) = 0;
  /// Of the kernel of that number.
  virtual void counter(std::int64_t kernel, const TraceCounter& counter) = 0;
  /// What else was in the file and how often: "ac2g flows", 35071.
  virtual void count(std::string_view what, std::int64_t events, bool kept) = 0;
};

}  // namespace mansard::ir
