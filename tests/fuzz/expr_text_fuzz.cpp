#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "ir/expr_text.hpp"
#include "support/diagnostic.hpp"

namespace mansard::ir {
namespace {

/// Text either has an error within it or is an expression that prints, reads back as itself and has
/// a value.
void check(std::string text) {
  const auto file = std::make_shared<SourceFile>(SourceFile{"fuzz", std::move(text)});
  ExprPool pool;
  const Expr t = pool.symbol("t", kSecond);
  const Expr n = pool.symbol("f.n");
  pool.define("f", {pool.symbol("f.row"), n}, n * n + 1);
  pool.define("g", {t}, t * 2);
  pool.add_table("tiles", {"row"}, {1, 2, 3});

  const auto parsed = parse_expr(file->text, pool, {file, 0, file->text.size()});
  if (!parsed) {
    const Diagnostic& error = parsed.error().at(0);
    const bool is_within =
        error.location.begin <= error.location.end && error.location.end <= file->text.size();
    if (!is_within || render(error).empty()) {
      std::abort();
    }
    return;
  }
  const auto again = parse_expr(print(*parsed), pool);
  const bool is_same = again ? *again == *parsed : again.error().at(0).id == "expr-depth";
  if (!is_same) {
    std::abort();
  }
  Bindings bindings;
  for (const Expr symbol : symbols_of(*parsed)) {
    bindings.set(symbol->symbol, 3);
  }
  (void)count(*parsed, bindings);
}

}  // namespace
}  // namespace mansard::ir

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mansard::ir::check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
