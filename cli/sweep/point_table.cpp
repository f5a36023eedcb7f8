#include "cli/sweep/point_table.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "model/sweep/packing.hpp"
#include "model/sweep/sinks.hpp"
#include "traces/dataset/sqlite.hpp"

namespace mansard::cli {
namespace {

constexpr std::size_t kRowsOfTransaction = 65536;

struct RowsDigest : model::SweepSink::Digest {
  std::vector<SweepReport::Row> rows;
};

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text + '"';
}

const char* type_of(const SweepColumn& column) {
  return column.words ? "TEXT" : column.whole ? "INTEGER" : "REAL";
}

double number_in(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

struct PointTable::State {
  State(std::unique_ptr<traces::Database> opened, std::vector<SweepColumn> of,
        const std::string& insertion)
      : database(std::move(opened)), columns(std::move(of)), insert(database->prepare(insertion)) {}

  std::unique_ptr<traces::Database> database;
  std::vector<SweepColumn> columns;
  traces::Statement insert;
  std::size_t open_rows = 0;
};

PointTable::PointTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
PointTable::~PointTable() = default;

Result<std::unique_ptr<PointTable>> PointTable::create(const std::string& path,
                                                       const std::vector<SweepColumn>& columns) {
  auto database = traces::Database::create(path);
  if (!database) {
    return failure(std::move(database.error()));
  }
  std::string definitions;
  std::string parameters;
  for (const SweepColumn& column : columns) {
    const char* comma = definitions.empty() ? "" : ", ";
    definitions += fmt::format("{}{} {}", comma, quoted(column.name), type_of(column));
    parameters += fmt::format("{}?", comma);
  }
  (*database)->execute("PRAGMA synchronous = NORMAL");
  (*database)->execute(fmt::format("CREATE TABLE points ({})", definitions));
  (*database)->execute("CREATE TABLE counts (what TEXT, points INTEGER)");
  (*database)->execute("BEGIN");
  if (auto ready = (*database)->status(); !ready) {
    return failure(std::move(ready.error()));
  }
  auto state = std::make_unique<State>(std::move(*database), columns,
                                       fmt::format("INSERT INTO points VALUES ({})", parameters));
  return std::unique_ptr<PointTable>(new PointTable(std::move(state)));
}

void PointTable::add(const SweepReport::Row& row) {
  State& state = *state_;
  int at = 0;
  for (const std::string& text : row.axes) {
    const SweepColumn& column = state.columns[static_cast<std::size_t>(at)];
    ++at;
    if (column.words) {
      state.insert.bind_at(at, text);
    } else if (column.whole) {
      state.insert.bind_at(at, static_cast<std::int64_t>(number_in(text)));
    } else {
      state.insert.bind_at(at, number_in(text));
    }
  }
  for (const double value : row.outputs) {
    state.insert.bind_at(++at, value);
  }
  (void)state.insert.step();
  state.insert.reset();
  if (++state.open_rows >= kRowsOfTransaction) {
    state.open_rows = 0;
    state.database->execute("COMMIT; BEGIN");
  }
}

Result<void> PointTable::finish(const model::SweepCounts& counts) {
  traces::Database& database = *state_->database;
  traces::Statement insert = database.prepare("INSERT INTO counts VALUES (?, ?)");
  insert.run("evaluated", static_cast<std::int64_t>(counts.evaluated));
  insert.run("left out by --where", static_cast<std::int64_t>(counts.unwanted));
  for (const auto& [reason, points] : counts.infeasible) {
    insert.run("cannot run: " + reason, static_cast<std::int64_t>(points));
  }
  database.execute("COMMIT");
  return database.status();
}

std::unique_ptr<model::SweepSink::Digest> TableSink::digest(const model::SweepBlock& block) const {
  auto result = std::make_unique<RowsDigest>();
  for (std::size_t at = 0; at < block.count; ++at) {
    if (block.kept != nullptr && block.kept[at] == 0) {
      continue;
    }
    SweepReport::Row row{model::axis_texts(*block.space, block.variant->labels, block.first + at),
                         {}};
    for (const double* values : block.outputs) {
      row.outputs.push_back(values[at]);
    }
    result->rows.push_back(std::move(row));
  }
  return result;
}

void TableSink::take(Digest& digest) {
  for (const SweepReport::Row& row : static_cast<RowsDigest&>(digest).rows) {
    table_->add(row);
  }
}

void TableSink::pack(const Digest& digest, model::Packer& packer) const {
  const auto& rows = static_cast<const RowsDigest&>(digest).rows;
  packer.put(rows.size());
  for (const SweepReport::Row& row : rows) {
    packer.put_texts(row.axes);
    packer.put_numbers(row.outputs);
  }
}

std::unique_ptr<model::SweepSink::Digest> TableSink::unpack(model::Unpacker& unpacker) const {
  auto result = std::make_unique<RowsDigest>();
  for (auto left = unpacker.get<std::size_t>(); left > 0; --left) {
    auto axes = unpacker.texts();
    result->rows.push_back({std::move(axes), unpacker.numbers()});
  }
  return result;
}

}  // namespace mansard::cli
