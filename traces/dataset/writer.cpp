#include "traces/dataset/writer.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "ir/kernel_name.hpp"
#include "traces/dataset/link.hpp"
#include "traces/dataset/schema.hpp"

namespace mansard::traces {
namespace {

/// Texts remembered to store each once; beyond it some may be stored again.
constexpr std::size_t kNamesBytes = std::size_t{24} << 20;

/// A dataset in the making may be lost, so nothing is synchronised; the cache bounds its memory.
constexpr const char* kLoading =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA page_size = 16384; PRAGMA cache_size = -32768; PRAGMA temp_store = FILE;";

std::string partial(const std::string& path) {
  return path + ".partial";
}

std::optional<std::int64_t> unless(std::int64_t value, std::int64_t absent) {
  return value == absent ? std::nullopt : std::optional(value);
}

}  // namespace

struct DatasetWriter::Statements {
  Statement name;
  Statement shorten;
  Statement kernel;
  Statement transfer;
  Statement launch;
  Statement op;
  Statement annotation;
  Statement metric;
  Statement counter;
  Statement count;
  Statement device;

  explicit Statements(Database& db)
      : name(db.prepare("INSERT INTO names VALUES(?,?,?)")),
        shorten(db.prepare("UPDATE names SET short = ?2 WHERE id = ?1")),
        kernel(db.prepare("INSERT INTO kernel_rows VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,?,?,"
                          "?,?,?,?,?,?,?,?)")),
        transfer(db.prepare(
            "INSERT INTO transfer_rows VALUES(NULL,?,?,?,?,?,?,?,?,?,?,NULL,NULL,?,?,?,?)")),
        launch(db.prepare("INSERT INTO launch_rows VALUES(NULL,?,?,?,?,?,?,?,?,NULL)")),
        op(db.prepare("INSERT INTO op_rows VALUES(NULL,?,?,?,?,?,?,?,?,?)")),
        annotation(db.prepare("INSERT INTO annotation_rows VALUES(NULL,?,?,?,?,?,?,?,?,?)")),
        metric(db.prepare("INSERT INTO metrics VALUES(?,?,?)")),
        counter(db.prepare("INSERT INTO counter_rows VALUES(?,?,?,?)")),
        count(db.prepare("INSERT INTO imports VALUES(?,?,?,?)")),
        device(db.prepare("INSERT INTO devices VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")) {}
};

DatasetWriter::DatasetWriter(std::string path, std::unique_ptr<Database> database)
    : path_(std::move(path)), database_(std::move(database)) {
  database_->execute(kLoading);
  database_->execute(std::string(dataset_tables()));
  database_->execute("BEGIN");
  statements_ = std::make_unique<Statements>(*database_);
}

DatasetWriter::~DatasetWriter() {
  statements_.reset();
  database_.reset();
  std::error_code error;
  std::filesystem::remove(partial(path_), error);
}

Result<std::unique_ptr<DatasetWriter>> DatasetWriter::create(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !is_dataset(path)) {
    return failure("dataset-write",
                   fmt::format("'{}' exists and is no dataset; it is left alone", path), {},
                   "choose another name behind -o");
  }
  auto database = Database::create(partial(path));
  if (!database) {
    return failure(std::move(database.error()));
  }
  std::unique_ptr<DatasetWriter> writer(new DatasetWriter(path, std::move(*database)));
  if (auto status = writer->database_->status(); !status) {
    return failure(std::move(status.error()));
  }
  return writer;
}

std::int64_t DatasetWriter::begin_run() {
  database_->execute("INSERT INTO runs(id) VALUES(NULL)");
  return run_ = database_->last_id();
}

void DatasetWriter::end_run(const ReadReport& report) {
  const ir::TraceRun& run = report.run;
  database_
      ->prepare(
          "UPDATE runs SET file=?2, format=?3, producer=?4, base_ns=?5, rank=?6, "
          "world_size=?7, clocks_locked=?8, has_timeline=?9, text_bytes=?10, broken=?11 "
          "WHERE id=?1")
      .run(run_, run.file, run.format, run.producer, run.base_ns, unless(run.rank, -1),
           unless(run.world_size, 0), run.clocks_locked ? 1 : 0, run.has_timeline ? 1 : 0,
           static_cast<std::int64_t>(report.bytes),
           report.broken ? std::optional(report.broken->message) : std::nullopt);
  link_run(*database_, run_);
}

void DatasetWriter::combine() {
  combine_runs(*database_);
  database_->execute(std::string(dataset_views()));
}

Result<void> DatasetWriter::finish() {
  database_->execute(std::string(dataset_views()));
  database_->execute("COMMIT");
  statements_.reset();
  auto status = database_->status();
  database_.reset();
  if (!status) {
    return status;
  }
  std::error_code error;
  std::filesystem::rename(partial(path_), path_, error);
  if (error) {
    return failure("dataset-write", fmt::format("cannot write '{}': {}", path_, error.message()));
  }
  return {};
}

std::int64_t DatasetWriter::name_id(std::string_view text, std::string_view short_name,
                                    bool is_kernel) {
  if (const auto found = names_.find(text); found != names_.end()) {
    if (is_kernel && !found->second.shortened) {  // Until now it named something else.
      found->second.shortened = true;
      const std::int64_t id = found->second.id;
      statements_->shorten.run(id, short_id(id, text, short_name));
      return id;
    }
    return found->second.id;
  }
  if (names_bytes_ > kNamesBytes) {
    names_.clear();
    names_bytes_ = 0;
  }
  const std::int64_t id = next_name_++;
  constexpr std::size_t kOverhead = 64;
  names_bytes_ += text.size() + kOverhead;
  names_.emplace(text, Name{id, is_kernel});
  const std::optional<std::int64_t> shorter =
      is_kernel ? std::optional(short_id(id, text, short_name)) : std::nullopt;
  statements_->name.run(id, text, shorter);
  return id;
}

std::int64_t DatasetWriter::short_id(std::int64_t id, std::string_view text,
                                     std::string_view short_name) {
  const std::string shortened =
      short_name.empty() ? ir::short_kernel_name(text) : std::string(short_name);
  return shortened == text ? id : name_id(shortened);
}

std::optional<std::int64_t> DatasetWriter::optional_name(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(name_id(text));
}

void DatasetWriter::device(const ir::TraceDevice& d) {
  const std::string capability =
      d.compute_major > 0 ? fmt::format("{}.{}", d.compute_major, d.compute_minor) : "";
  statements_->device.run(run_, d.id, d.name, unless(d.sm_count, 0), unless(d.memory_bytes, 0),
                          unless(d.bandwidth, 0), unless(d.clock_hz, 0), capability,
                          unless(d.warp_size, 0), unless(d.registers_per_sm, 0),
                          unless(d.shared_per_sm, 0), unless(d.threads_per_sm, 0));
}

std::int64_t DatasetWriter::event(const ir::TraceEvent& event) {
  switch (event.kind) {
    case ir::TraceEventKind::kKernel:
      kernel(event);
      break;
    case ir::TraceEventKind::kCopy:
      transfer(event, "copy");
      break;
    case ir::TraceEventKind::kMemset:
      transfer(event, "memset");
      break;
    case ir::TraceEventKind::kSynchronisation:
      transfer(event, "synchronisation");
      break;
    default:
      host(event);
  }
  return database_->last_id();
}

void DatasetWriter::kernel(const ir::TraceEvent& e) {
  const std::int64_t name = name_id(e.name, e.short_name, true);
  const auto collective = optional_name(e.collective);
  statements_->kernel.run(run_, unless(e.process, 0), unless(e.device, -1), e.context,
                          unless(e.stream, -1), e.start_ns, e.duration_ns, name, e.correlation,
                          e.external, e.graph_node, e.grid[0], e.grid[1], e.grid[2], e.block[0],
                          e.block[1], e.block[2], e.registers, e.shared_static, e.shared_dynamic,
                          collective);
}

void DatasetWriter::transfer(const ir::TraceEvent& e, std::string_view kind) {
  statements_->transfer.run(run_, kind, unless(e.process, 0), unless(e.device, -1),
                            unless(e.stream, -1), e.start_ns, e.duration_ns, name_id(e.name),
                            e.correlation, e.external, e.copy_kind, e.bytes, e.awaited_stream,
                            e.awaited_correlation);
}

void DatasetWriter::host(const ir::TraceEvent& e) {
  const std::int64_t name = name_id(e.name);
  if (e.kind == ir::TraceEventKind::kLaunch) {
    statements_->launch.run(run_, e.process, e.thread, e.start_ns, e.duration_ns, name,
                            e.correlation, e.external);
  } else if (e.kind == ir::TraceEventKind::kOp) {
    const auto shapes = optional_name(e.shapes);
    const auto dtypes = optional_name(e.dtypes);
    statements_->op.run(run_, e.process, e.thread, e.start_ns, e.duration_ns, name, e.external,
                        shapes, dtypes);
  } else {
    statements_->annotation.run(run_, e.process, e.thread, unless(e.device, -1),
                                unless(e.stream, -1), e.start_ns, e.duration_ns, name,
                                optional_name(e.category));
  }
}

std::int64_t DatasetWriter::metric_id(const ir::TraceCounter& counter) {
  std::string key = fmt::format("{}\n{}", counter.metric, counter.unit);
  if (const auto found = metrics_.find(key); found != metrics_.end()) {
    return found->second;
  }
  const auto id = static_cast<std::int64_t>(metrics_.size()) + 1;
  metrics_.emplace(std::move(key), id);
  statements_->metric.run(id, counter.metric, counter.unit);
  return id;
}

void DatasetWriter::counter(std::int64_t kernel, const ir::TraceCounter& counter) {
  const std::int64_t metric = metric_id(counter);
  if (counter.text.empty()) {
    statements_->counter.run(kernel, metric, counter.value, std::nullopt);
  } else {
    statements_->counter.run(kernel, metric, std::nullopt, counter.text);
  }
}

void DatasetWriter::count(std::string_view what, std::int64_t events, bool kept) {
  statements_->count.run(run_, what, events, kept ? 1 : 0);
}

}  // namespace mansard::traces
