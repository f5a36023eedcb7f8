#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite with C++ lifetimes. The first error of a database is kept: a statement that fails ends
/// its rows, and `status` says why.
namespace mansard::traces {

class Database;

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  /// Binds the parameters in order and runs a statement that gives no rows.
  template <typename... Values>
  void run(const Values&... values) {
    bind(values...);
    (void)step();
    reset();
  }
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  /// Binds one parameter, counted from 1.
  template <typename Value>
  void bind_at(int index, const Value& value) {
    bind_one(index, value);
  }
  /// The next row. False: there is none, or an error.
  [[nodiscard]] bool step();
  void reset();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string column_name(int column) const;
  enum class Type : std::uint8_t { kNull, kInteger, kReal, kText, kBlob };
  [[nodiscard]] Type type(int column) const;
  [[nodiscard]] bool is_null(int column) const { return type(column) == Type::kNull; }
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  /// Valid until the next step.
  [[nodiscard]] std::string_view text(int column) const;
  /// It writes nothing.
  [[nodiscard]] bool read_only() const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view text);
  void bind_one(int index, const std::string& text) { bind_one(index, std::string_view(text)); }
  void bind_one(int index, const char* text) { bind_one(index, std::string_view(text)); }
  void bind_one(int index, std::nullopt_t);
  template <typename T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value) {
      bind_one(index, *value);
    } else {
      bind_one(index, std::nullopt);
    }
  }

  Database* database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  /// A new database in the place of any file of that name.
  [[nodiscard]] static Result<std::unique_ptr<Database>> create(const std::string& path);
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path);
  /// Nothing can be written, attached or loaded through it. Errors: no such file, no database.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open_read_only(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Statements without rows, separated by semicolons.
  void execute(const std::string& sql);
  /// A statement of our own; an error is kept and gives a statement without rows.
  [[nodiscard]] Statement prepare(std::string_view sql);
  /// A statement of a user, exactly one.
  [[nodiscard]] Result<Statement> prepare_user(const std::string& sql);

  /// True if there is a table or view of that name.
  [[nodiscard]] bool has_table(std::string_view name);
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column);
  [[nodiscard]] std::int64_t last_id() const;
  /// The first error, if any statement failed.
  [[nodiscard]] Result<void> status() const;

 private:
  friend class Statement;
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  void keep_error();

  std::string path_;
  sqlite3* handle_;
  std::string error_;
};

}  // namespace mansard::traces
