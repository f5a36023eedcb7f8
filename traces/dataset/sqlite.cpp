#include "traces/dataset/sqlite.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace mansard::traces {
namespace {

/// Lets through what only reads this database.
int allow_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return SQLITE_DENY;
    default:
      return SQLITE_OK;
  }
}

tl::unexpected<Diagnostics> cannot_open(const std::string& path, const std::string& why) {
  return failure("dataset-open", fmt::format("cannot open '{}': {}", path, why));
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

bool Statement::step() {
  if (statement_ == nullptr) {
    return false;
  }
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    database_->keep_error();
  }
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name != nullptr ? name : "";
}

Statement::Type Statement::type(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return Type::kInteger;
    case SQLITE_FLOAT:
      return Type::kReal;
    case SQLITE_TEXT:
      return Type::kText;
    case SQLITE_BLOB:
      return Type::kBlob;
    default:
      return Type::kNull;
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) {
    return {};
  }
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::read_only() const {
  return sqlite3_stmt_readonly(statement_) != 0;
}

void Statement::bind_one(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}

void Statement::bind_one(int index, double value) {
  sqlite3_bind_double(statement_, index, value);
}

void Statement::bind_one(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() != nullptr ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind_one(int index, std::nullopt_t) {
  sqlite3_bind_null(statement_, index);
}

Result<std::unique_ptr<Database>> Database::create(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code != SQLITE_OK) {
    return failure("dataset-write",
                   fmt::format("cannot write '{}': {}", path, sqlite3_errmsg(handle)));
  }
  return database;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  return code == SQLITE_OK ? Result<std::unique_ptr<Database>>(std::move(database))
                           : cannot_open(path, sqlite3_errmsg(handle));
}

Result<std::unique_ptr<Database>> Database::open_read_only(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return cannot_open(path, "no such file");
  }
  if (std::filesystem::is_directory(path, error)) {
    return cannot_open(path, "it is a directory");
  }
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code == SQLITE_OK) {  // The first read of the file tells whether it is a database.
    code = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  }
  if (code != SQLITE_OK) {
    return cannot_open(path, sqlite3_errmsg(handle));
  }
  sqlite3_set_authorizer(handle, allow_reading, nullptr);
  return database;
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    keep_error();
  }
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    keep_error();
  }
  return {*this, statement};
}

Result<Statement> Database::prepare_user(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, &rest);
  Statement result(*this, statement);
  if (code != SQLITE_OK) {
    const auto source = std::make_shared<SourceFile>(SourceFile{"SQL", sql});
    const int at = sqlite3_error_offset(handle_);
    const Location location =
        at >= 0 ? Location{source, static_cast<std::size_t>(at), static_cast<std::size_t>(at) + 1}
                : Location{source, 0, 0};
    return failure("sql", sqlite3_errmsg(handle_), location);
  }
  if (statement == nullptr) {
    return failure("sql", "the query is empty");
  }
  if (std::string_view(rest).find_first_not_of("; \t\r\n") != std::string_view::npos) {
    const auto source = std::make_shared<SourceFile>(SourceFile{"SQL", sql});
    const auto at = static_cast<std::size_t>(rest - sql.c_str());
    return failure("sql", "expected one statement, found more", {source, at, sql.size()});
  }
  return result;
}

bool Database::has_table(std::string_view name) {
  Statement found = prepare("SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE");
  return found.bind(name).step();
}

bool Database::has_column(std::string_view table, std::string_view column) {
  Statement found = prepare("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE");
  return found.bind(table, column).step();
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

Result<void> Database::status() const {
  if (error_.empty()) {
    return {};
  }
  return failure("dataset", fmt::format("'{}': {}", path_, error_));
}

void Database::keep_error() {
  if (error_.empty()) {
    error_ = sqlite3_errmsg(handle_);
  }
}

}  // namespace mansard::traces
