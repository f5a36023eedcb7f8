#include "traces/import.hpp"

#include <array>
#include <memory>

#include <fmt/format.h>

#include "support/source.hpp"
#include "traces/byte_source.hpp"
#include "traces/dataset/writer.hpp"
#include "traces/importers.hpp"

namespace mansard::traces {
namespace {

struct Format {
  std::string_view name;
  bool (*looks_like)(std::string_view beginning);
  Result<ReadReport> (*import)(const std::string& path, ir::TraceSink& sink);
};

constexpr std::array kFormats{
#define FORMAT(name) Format{#name, looks_like_##name, import_##name},
#include "traces/formats.def"
#undef FORMAT
};

Result<const Format*> recognise(const std::string& path) {
  auto source = ByteSource::open(path);
  if (!source) {
    return failure(std::move(source.error()));
  }
  constexpr std::size_t kEnough = std::size_t{1} << 16;
  std::string beginning(kEnough, '\0');
  beginning.resize(source->read(beginning));
  for (const Format& format : kFormats) {
    if (format.looks_like(beginning)) {
      return &format;
    }
  }
  if (beginning.empty() && !source->damage().empty()) {
    return failure("trace-damaged", fmt::format("'{}': {}", path, source->damage()));
  }
  if (beginning.empty()) {
    return failure("trace-empty", fmt::format("'{}' is empty", path));
  }
  return failure(
      "trace-format",
      fmt::format("'{}' is of no format that is known: Kineto or Chrome trace JSON, "
                  "Nsight Systems SQLite, Nsight Compute CSV",
                  path),
      {},
      beginning.starts_with("NSYS") || path.ends_with(".nsys-rep")
          ? "export it: nsys export --type sqlite FILE.nsys-rep"
          : (path.ends_with(".ncu-rep") ? "export it: ncu --import FILE.ncu-rep --csv --page raw"
                                        : ""));
}

/// The text up to a little behind `offset`, for its lines; of a large file only the place is told.
Location location_of(const std::string& path, std::uint64_t offset) {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  constexpr std::uint64_t kBehind = 256;
  auto source = ByteSource::open(path);
  if (!source || offset > kMost) {
    return {};
  }
  auto file = std::make_shared<SourceFile>(SourceFile{path, std::string(offset + kBehind, '\0')});
  file->text.resize(source->read(file->text));
  const std::size_t at = std::min<std::size_t>(offset, file->text.size());
  return {file, at, at + 1};
}

Diagnostic diagnostic_of(const std::string& path, const Break& broken) {
  Diagnostic result{.id = broken.id, .message = broken.message, .label = broken.hint};
  result.location = location_of(path, broken.offset);
  if (!result.location.file) {
    result.message = fmt::format("'{}', byte {}: {}", path, broken.offset, broken.message);
  }
  return result;
}

std::int64_t count_of(Database& db, std::string_view sql, std::int64_t run) {
  Statement statement = db.prepare(sql);
  return statement.bind(run).step() ? statement.integer(0) : 0;
}

ImportReport::File file_report(Database& db, std::int64_t run, const ReadReport& report) {
  ImportReport::File file{.name = report.run.file,
                          .format = report.run.format,
                          .text_bytes = static_cast<std::int64_t>(report.bytes)};
  file.kernels = count_of(db, "SELECT count(*) FROM kernel_rows WHERE run = ?1", run);
  file.linked = count_of(db, "SELECT count(launch) FROM kernel_rows WHERE run = ?1", run);
  file.in_op = count_of(db, "SELECT count(op) FROM kernel_rows WHERE run = ?1", run);
  Statement lines =
      db.prepare("SELECT what, events, kept FROM imports WHERE run = ?1 ORDER BY kept DESC, what");
  for (lines.bind(run); lines.step();) {
    file.lines.push_back({std::string(lines.text(0)), lines.integer(1), lines.integer(2) != 0});
  }
  return file;
}

void add_matches(Database& db, ImportReport& result) {
  result.matched =
      count_of(db, "SELECT count(DISTINCT counter_kernel) FROM matches WHERE ?1 = 0", 0);
  result.verified = count_of(
      db, "SELECT count(DISTINCT counter_kernel) FROM matches WHERE verified = 1 AND ?1 = 0", 0);
  result.clocks_locked =
      count_of(db, "SELECT count(*) FROM runs WHERE clocks_locked = 1 AND has_timeline = ?1", 0) >
      0;
  Statement rows = db.prepare(
      "SELECT name, printf('(%d, %d, %d) x (%d, %d, %d)', grid_x, grid_y, grid_z, block_x, "
      "block_y, block_z), has_timeline, kernels FROM unmatched_kernels");
  while (rows.step()) {
    result.unmatched.push_back({std::string(rows.text(0)), std::string(rows.text(1)),
                                rows.integer(2) != 0, rows.integer(3)});
  }
}

}  // namespace

Result<ImportReport> import_files(std::span<const std::string> files, const std::string& path) {
  std::vector<const Format*> formats;
  Diagnostics errors;
  for (const std::string& file : files) {
    auto format = recognise(file);
    if (format) {
      formats.push_back(*format);
    } else {
      errors.insert(errors.end(), format.error().begin(), format.error().end());
    }
  }
  if (!errors.empty()) {
    return failure(std::move(errors));
  }
  auto writer = DatasetWriter::create(path);
  if (!writer) {
    return failure(std::move(writer.error()));
  }
  ImportReport result;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::int64_t run = (*writer)->begin_run();
    auto report = formats[i]->import(files[i], **writer);
    if (!report) {
      return failure(std::move(report.error()));
    }
    report->run.file = files[i];
    report->run.format = formats[i]->name;
    (*writer)->end_run(*report);
    result.files.push_back(file_report((*writer)->database(), run, *report));
    if (report->broken) {
      result.errors.push_back(diagnostic_of(files[i], *report->broken));
    }
  }
  (*writer)->combine();
  result.counter_kernels = count_of((*writer)->database(),
                                    "SELECT CASE WHEN max(has_timeline) = 1 THEN (SELECT count(*) "
                                    "FROM kernel_rows WHERE run IN (SELECT id FROM runs WHERE "
                                    "has_timeline = 0)) ELSE 0 END FROM runs WHERE id > ?1",
                                    0);
  add_matches((*writer)->database(), result);
  auto finished = (*writer)->finish();
  if (!finished) {
    return failure(std::move(finished.error()));
  }
  return result;
}

}  // namespace mansard::traces
