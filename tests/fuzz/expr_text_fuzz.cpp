#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "ir/expr_text.hpp"
#include "support/diagnostic.hpp"

/// Text either has an error within it or is an expression that prints, reads back as itself and has
/// a value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mansard;
  using namespace mansard::ir;
  const auto file = std::make_shared<SourceFile>(
      SourceFile{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  ExprPool pool;
  const Expr t = pool.symbol("t", kSecond);
  const Expr n = pool.symbol("f.n");
  pool.define("f", {pool.symbol("f.row"), n}, n * n + 1);
  pool.define("g", {t}, t * 2);
  pool.add_table("tiles", {"row"}, {1, 2, 3});

  const auto parsed = parse_expr(file->text, pool, {file, 0, size});
  if (!parsed) {
    const Diagnostic& error = parsed.error().at(0);
    const bool is_within = error.location.begin <= error.location.end && error.location.end <= size;
    if (!is_within || render(error).empty()) {
      std::abort();
    }
    return 0;
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
  return 0;
}
