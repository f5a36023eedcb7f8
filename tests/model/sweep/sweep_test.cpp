#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

#include <catch2/catch.hpp>

#include "ir/expr.hpp"
#include "model/condition.hpp"
#include "model/sweep/sinks.hpp"
#include "model/sweep/team.hpp"

namespace mansard::model {
namespace {

Result<Axis> axis_of(const std::string& option, bool whole = false,
                     const Dimension& dimension = kNumber) {
  const auto texts = split_axes(option);
  return texts ? parse_axis(texts->front(), dimension, whole) : failure(texts.error());
}

std::vector<double> values_of(const Axis& axis) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < axis.size(); ++i) {
    values.push_back(axis.value(i));
  }
  return values;
}

TEST_CASE("an axis is a list, a range by steps, factors or logarithms", "[sweep]") {
  CHECK(values_of(*axis_of("n=4,1,2")) == std::vector<double>{4, 1, 2});
  CHECK(values_of(*axis_of("n=1..4")) == std::vector<double>{1, 2, 3, 4});
  CHECK(values_of(*axis_of("n=1..2+0.25")) == std::vector<double>{1, 1.25, 1.5, 1.75, 2});
  CHECK(values_of(*axis_of("n=1..40*3")) == std::vector<double>{1, 3, 9, 27});
  CHECK(values_of(*axis_of("n=1..2,8..16*2")) == std::vector<double>{1, 2, 8, 16});
  const auto logarithmic = values_of(*axis_of("n=1..100~3"));
  REQUIRE(logarithmic.size() == 3);
  CHECK(logarithmic[1] == Approx(10));
  CHECK(axis_of("n=1..1000000000000+1")->size() == 1'000'000'000'000U);
  CHECK(values_of(*axis_of("b=1,2 TB/s", false, kBytePerSecond)) ==
        std::vector<double>{1e12, 2e12});
}

TEST_CASE("an axis that makes no sense is refused", "[sweep]") {
  for (const char* option :
       {"n", "=1", "n=", "n=1,,2", "n=x", "n=4..1", "n=1..4+0", "n=1..4*1", "n=0..4*2", "n=1..4~1",
        "n=1..1e30", "n=1..nan", "n=1 GB", "n=1...4"}) {
    CAPTURE(option);
    CHECK_FALSE(axis_of(option));
  }
  CHECK_FALSE(axis_of("n=1..4+0.5", true));
  CHECK_FALSE(axis_of("n=0..4", true));
  CHECK_FALSE(axis_of("n=-3", true));
}

TEST_CASE("a condition compares fields with units", "[sweep]") {
  ir::ExprPool pool;
  const std::vector<Output> outputs{{"tpot_s", pool.symbol("t", kSecond)},
                                    {"memory.fits", pool.symbol("fits")}};
  const auto holds = [&](const std::string& text, double t, double fits) {
    const auto condition = parse_condition(text, outputs, pool);
    REQUIRE(condition);
    ir::Bindings at;
    at.set("t", t);
    at.set("fits", fits);
    return ir::value(*condition, at) == 1;
  };
  CHECK(holds("tpot < 50 ms", 0.049, 0));
  CHECK_FALSE(holds("tpot < 50 ms", 0.05, 0));
  CHECK(holds("tpot <= 50 ms", 0.05, 0));
  CHECK(holds("memory.fits and tpot < 1 s or tpot == 2 s", 2, 0));
  CHECK_FALSE(holds("memory.fits and (tpot < 1 s or tpot == 2 s)", 2, 0));
  CHECK(holds("not memory.fits", 1, 0));
  CHECK(holds("2 * tpot + 1 s > 2.9 s", 1, 0));
  for (const char* text : {"tpot < 50", "tpot", "tpot < ", "(tpot < 1 s", "tpot < 1 s)", "", "and",
                           "tpt < 1 s", "tpot < 1 xs", "fits + tpot < 1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_condition(text, outputs, pool));
  }
}

/// f(kind, x, y) = x * y + kind over 3 x 50 x 40 points, of which those with x = 7 cannot run.
struct Made {
  SweepSpace space{
      {{Axis::of_words("kind", {"0", "1", "2"})}},
      {{Axis::of_range("x", kNumber, 1, 1, 50)}, {Axis::of_range("y", kNumber, 1, 1, 40)}}};
  VariantSource source = [this](std::span<const std::uint64_t> places) {
    ir::ExprPool pool;
    const ir::Expr x = pool.symbol("x");
    const ir::Expr y = pool.symbol("y");
    const ir::Expr runs = ir::less(x, 7) + ir::less(pool.constant(7), x);
    const std::vector<ir::Expr> roots{runs, pool.constant(1),
                                      x * y + static_cast<double>(places[0]), y};
    SweepVariant variant{.labels = {space.structural[0][0].text(places[0])}};
    variant.function = *BatchFunction::make(roots, space.symbols(), {}, {.interpret = true});
    return variant;
  };
};

TEST_CASE("a sweep counts what cannot run", "[sweep]") {
  const Made made;
  CollectSink sink;
  const SweepCounts counts = run_sweep(made.space, made.source, sink, {});
  CHECK(counts.evaluated == 3 * 49 * 40);
  CHECK(counts.total() == 3 * 50 * 40);
  CHECK(sink.points().size() == counts.evaluated);
  CHECK(sink.points().back().outputs == std::vector<double>{50 * 40 + 2, 40});
}

TEST_CASE("parts of a sweep make the whole", "[sweep]") {
  const Made made;
  CollectSink whole;
  (void)run_sweep(made.space, made.source, whole, {});
  CollectSink parts;
  for (std::uint64_t begin = 0; begin < 6000; begin += 777) {
    (void)run_sweep(made.space, made.source, parts,
                    {.begin = begin, .end = std::min<std::uint64_t>(begin + 777, 6000)});
  }
  REQUIRE(parts.points().size() == whole.points().size());
  for (std::size_t i = 0; i < whole.points().size(); ++i) {
    REQUIRE(parts.points()[i].outputs == whole.points()[i].outputs);
  }
}

TEST_CASE("the best, the front and the sums are those of all points", "[sweep]") {
  const Made made;
  TopSink top(2, 0, true);
  (void)run_sweep(made.space, made.source, top, {});
  REQUIRE(top.points().size() == 2);
  CHECK(top.points()[0].outputs[0] == 2002);
  CHECK(top.points()[1].outputs[0] == 2001);

  ParetoSink front({{0, false}, {1, true}});  // Least x y + kind, greatest y.
  (void)run_sweep(made.space, made.source, front, {});
  REQUIRE(front.points().size() == 40);  // x = 1, kind 0, every y.
  for (const SweepPoint& point : front.points()) {
    CHECK(point.outputs[0] == point.outputs[1]);
  }

  AggregateSink groups({"y"});
  (void)run_sweep(made.space, made.source, groups, {});
  REQUIRE(groups.groups().size() == 40);
  const auto& last = *groups.groups().rbegin();
  CHECK(last.first == std::vector<std::uint64_t>{39});
  CHECK(last.second.points == 3 * 49);
  CHECK(last.second.outputs[0].sum == 3 * 40 * (50 * 51 / 2 - 7) + 49 * (1 + 2));
  CHECK(last.second.outputs[0].least == 40);
}

/// Threads that pass messages as processes do.
class Exchange {
 public:
  explicit Exchange(std::size_t size) : inboxes_(size) {}
  void put(int to, Team::Message message) {
    const std::lock_guard lock(mutex_);
    inboxes_[static_cast<std::size_t>(to)].push(std::move(message));
    changed_.notify_all();
  }
  std::optional<Team::Message> take(int rank, bool wait) {
    auto& inbox = inboxes_[static_cast<std::size_t>(rank)];
    std::unique_lock lock(mutex_);
    if (wait) {
      changed_.wait(lock, [&] { return !inbox.empty(); });
    }
    if (inbox.empty()) {
      return std::nullopt;
    }
    auto message = std::move(inbox.front());
    inbox.pop();
    return message;
  }
  [[nodiscard]] int size() const { return static_cast<int>(inboxes_.size()); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::queue<Team::Message>> inboxes_;
};

class ThreadTeam : public Team {
 public:
  ThreadTeam(Exchange& exchange, int rank) : exchange_(&exchange), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return exchange_->size(); }
  void send(int to, std::string_view bytes) const override {
    exchange_->put(to, {rank_, std::string(bytes)});
  }
  [[nodiscard]] Message receive() const override { return *exchange_->take(rank_, true); }
  [[nodiscard]] std::optional<Message> poll() const override {
    return exchange_->take(rank_, false);
  }

 private:
  Exchange* exchange_;
  int rank_;
};

TEST_CASE("a team comes to what one process does, and heeds its members", "[sweep]") {
  const Made made;
  AggregateSink alone({"x"});
  const SweepCounts expected = run_sweep(made.space, made.source, alone, {});
  Exchange exchange(3);
  AggregateSink shared({"x"});
  std::size_t heard = 0;
  const TeamNotes notes{.write = [] { return std::string("note"); },
                        .read =
                            [&](std::string_view text) {
                              heard += text == "note" ? 1 : 0;
                              return true;
                            }};
  std::vector<std::thread> others;
  for (int rank = 1; rank < 3; ++rank) {
    others.emplace_back([&, rank] {
      AggregateSink sink({"x"});
      (void)run_sweep_as_team(made.space, made.source, sink, {.threads = 1},
                              ThreadTeam(exchange, rank), notes);
    });
  }
  const SweepCounts counts = run_sweep_as_team(made.space, made.source, shared, {.threads = 1},
                                               ThreadTeam(exchange, 0), notes);
  for (std::thread& other : others) {
    other.join();
  }
  CHECK(heard > 0);
  CHECK(counts.evaluated == expected.evaluated);
  CHECK(counts.infeasible == expected.infeasible);
  REQUIRE(shared.groups().size() == alone.groups().size());
  for (const auto& [key, group] : alone.groups()) {
    CHECK(shared.groups().at(key).outputs[0].sum == group.outputs[0].sum);
  }
}

}  // namespace
}  // namespace mansard::model
