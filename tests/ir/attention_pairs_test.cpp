#include "ir/attention_pairs.hpp"

#include <functional>
#include <set>

#include <catch2/catch.hpp>

#include "tests/ir/graph_fixture.hpp"

namespace mansard::ir {
namespace {

struct Counted {
  std::int64_t pairs = 0;
  std::int64_t keys = 0;
  friend bool operator==(const Counted&, const Counted&) = default;
};

std::ostream& operator<<(std::ostream& out, const Counted& counted) {
  return out << counted.pairs << " pairs, " << counted.keys << " keys";
}

/// Slow and obvious: every query and every key, one by one.
Counted enumerate(int context, int q_len, const std::function<bool(int, int)>& sees) {
  Counted counted;
  std::set<int> keys;
  for (int query = context - q_len; query < context; ++query) {
    for (int key = 0; key <= query; ++key) {
      if (sees(query, key)) {
        ++counted.pairs;
        keys.insert(key);
      }
    }
  }
  counted.keys = static_cast<std::int64_t>(keys.size());
  return counted;
}

Counted evaluate(const AttentionPairs& pairs, int context, int q_len) {
  const Bindings at = {{"context", context}, {"q_len", q_len}};
  return {.pairs = std::stoll(exact(pairs.pairs, at)),
          .keys = std::stoll(exact(pairs.keys_read, at))};
}

void check_everywhere(const AttentionPairs& pairs, const std::function<bool(int, int)>& sees) {
  for (int context = 1; context <= 24; ++context) {
    for (int q_len = 1; q_len <= context; ++q_len) {
      CAPTURE(context, q_len);
      CHECK(evaluate(pairs, context, q_len) == enumerate(context, q_len, sees));
    }
  }
}

}  // namespace

TEST_CASE("causal pairs are those of a triangle", "[ir][attention]") {
  ExprPool pool;
  check_everywhere(causal_pairs(pool.symbol("context"), pool.symbol("q_len")),
                   [](int, int) { return true; });
}

TEST_CASE("windowed pairs reach back over the window, the token itself included",
          "[ir][attention]") {
  ExprPool pool;
  for (const int window : {1, 3, 8, 100}) {
    CAPTURE(window);
    check_everywhere(windowed_pairs(pool.symbol("context"), pool.symbol("q_len"), window),
                     [&](int query, int key) { return query - key < window; });
  }
}

TEST_CASE("chunked pairs stay within a chunk", "[ir][attention]") {
  ExprPool pool;
  for (const int chunk : {1, 4, 7, 100}) {
    CAPTURE(chunk);
    check_everywhere(chunked_pairs(pool.symbol("context"), pool.symbol("q_len"), chunk),
                     [&](int query, int key) { return query / chunk == key / chunk; });
  }
}

TEST_CASE("pairs without a mask are all of them", "[ir][attention]") {
  ExprPool pool;
  const AttentionPairs pairs = full_pairs(pool.symbol("context"), pool.symbol("q_len"));
  CHECK(evaluate(pairs, 64, 64) == Counted{.pairs = 4096, .keys = 64});
}

}  // namespace mansard::ir
