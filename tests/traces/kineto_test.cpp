#include "traces/kineto/kineto.hpp"

#include <catch2/catch.hpp>
#include <zlib.h>

#include "tests/traces/recorder.hpp"

namespace mansard::traces {
namespace {

constexpr std::string_view kKernel =
    R"~({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10.5,"dur":2.25,"args":{"device":0,)~"
    R"~("context":1,"stream":7,"correlation":42,"External id":3,"registers per thread":40,)~"
    R"~("shared memory":1024,"grid":[4,2,1],"block":[128,1,1],"blocks per SM":31.030304,)~"
    R"~("memory bandwidth (GB/s)":inf}})~";

std::string trace_of(std::string_view events) {
  return R"~({"schemaVersion":1,"traceEvents":[)~" + std::string(events) + "]}";
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

TEST_CASE("a kernel event is read whole, an infinite bandwidth notwithstanding", "[traces]") {
  const KinetoRead read = read_text(trace_of(kKernel));
  CHECK_FALSE(read.report.broken);
  REQUIRE(read.recorder.events.size() == 1);
  const Recorder::Event& e = read.recorder.events.front();
  CHECK(e.name == "k");
  CHECK(e.event.start_ns == 10500);
  CHECK(e.event.duration_ns == 2250);
  CHECK(e.event.stream == 7);
  CHECK(e.event.correlation == 42);
  CHECK(e.event.external == 3);
  CHECK(e.event.grid == ir::Extent{4, 2, 1});
  CHECK(e.event.block == ir::Extent{128, 1, 1});
  CHECK(e.event.registers == 40);
  CHECK(e.event.shared_static == 1024);
}

TEST_CASE("a bare list of events is a trace too, after a byte order mark too", "[traces]") {
  CHECK(read_text("[" + std::string(kKernel) + "]").recorder.events.size() == 1);
  const KinetoRead marked = read_text("\xEF\xBB\xBF" + trace_of(kKernel));
  CHECK(marked.recorder.events.size() == 1);
  CHECK_FALSE(marked.report.broken);
}

TEST_CASE("the result does not depend on where windows end", "[traces]") {
  std::string events;
  for (int i = 0; i < 50; ++i) {
    events += (i == 0 ? "" : ",\n ") +
              std::string(R"~({"ph":"X","cat":"cpu_op","name":"a\\\"}{[,","pid":"1","ts":)~") +
              std::to_string(i) +
              R"~(.125,"dur":1,"args":{"Input Dims":[[1, 2],[]],"External id":)~" +
              std::to_string(i) + "}}";
  }
  const std::string text =
      R"~({"skipped":{"deep":[[[{"x":"y"}]]],"long":"................................"},"n":12345678,)~" +
      trace_of(events).substr(1, trace_of(events).size() - 2) + R"~(,"baseTimeNanoseconds":7})~";
  for (std::size_t window = 64; window < 1000; window += 7) {
    const KinetoRead read = read_text(text, window);
    CAPTURE(window);
    CHECK_FALSE(read.report.broken);
    REQUIRE(read.recorder.events.size() == 50);
    CHECK(read.recorder.events[49].name == "a\\\"}{[,");
    CHECK(read.recorder.events[49].shapes == "[[1,2],[]]");
    CHECK(read.recorder.events[49].event.start_ns == 49125);
    CHECK(read.report.run.base_ns == 7);
  }
}

TEST_CASE("spellings of other versions and vendors mean the same", "[traces]") {
  const KinetoRead read = read_text(trace_of(
      R"~({"ph":"X","cat":"Kernel","name":"amd","pid":2,"tid":0,"ts":"1.5","dur":"2","args":{"stream":"0x3",)~"
      R"~("correlation":"9","external id":"4"}},)~"
      R"~({"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":1,"ts":1,"dur":1,)~"
      R"~("args":{"size":"2560"}},)~"
      R"~({"ph":"X","cat":"Runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"cid":1}},)~"
      R"~({"ph":"X","cat":"Operator","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1},)~"
      R"~({"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":1,"dur":1})~"));
  const auto& events = read.recorder.events;
  REQUIRE(events.size() == 5);
  CHECK(events[0].event.kind == ir::TraceEventKind::kKernel);
  CHECK(events[0].event.device == 2);
  CHECK(events[0].event.stream == 3);
  CHECK(events[0].event.correlation == 9);
  CHECK(events[0].event.external == 4);
  CHECK(events[0].event.start_ns == 1500);
  CHECK(events[1].event.kind == ir::TraceEventKind::kCopy);
  CHECK(events[1].event.bytes == 2560);
  CHECK(events[1].copy_kind == "HtoD");
  CHECK(events[2].event.kind == ir::TraceEventKind::kLaunch);
  CHECK(events[3].event.kind == ir::TraceEventKind::kOp);
  CHECK(events[4].event.kind == ir::TraceEventKind::kSynchronisation);
}

TEST_CASE("a begin and its end are one event, nested ones innermost first", "[traces]") {
  const KinetoRead read = read_text(trace_of(
      R"~({"ph":"B","name":"outer","pid":1,"tid":2,"ts":1},{"ph":"B","name":"inner","pid":1,"tid":2,"ts":2},)~"
      R"~({"ph":"E","pid":1,"tid":2,"ts":3},{"ph":"E","pid":1,"tid":2,"ts":5},{"ph":"E","pid":1,"tid":2,"ts":6},)~"
      R"~({"ph":"B","name":"open","pid":1,"tid":2,"ts":7})~"));
  REQUIRE(read.recorder.events.size() == 2);
  CHECK(read.recorder.events[0].name == "inner");
  CHECK(read.recorder.events[1].name == "outer");
  CHECK(read.recorder.events[1].event.duration_ns == 4000);
  CHECK(read.recorder.dropped.at("events that never end") == 1);
  CHECK(read.recorder.dropped.at("(no category) E without B") == 1);
}

TEST_CASE("control characters and bad bytes in names do not lose the event", "[traces]") {
  const KinetoRead read =
      read_text(trace_of("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\x01\n\xff\x62\",\"pid\":0,"
                         "\"ts\":1,\"dur\":1}"));
  CHECK_FALSE(read.report.broken);
  REQUIRE(read.recorder.events.size() == 1);
  CHECK(read.recorder.events[0].name ==
        "a  \xEF\xBF\xBD"
        "b");
  CHECK(read.recorder.dropped.at("control characters in names, read as spaces") == 2);
}

TEST_CASE("trailing commas and NaN are forgiven", "[traces]") {
  const KinetoRead read = read_text(
      trace_of(R"~({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"args":{"x":NaN,},},)~"));
  CHECK_FALSE(read.report.broken);
  CHECK(read.recorder.events.size() == 1);
}

TEST_CASE("everything before a break is kept, and the break is placed", "[traces]") {
  const std::string whole = trace_of(std::string(kKernel) + ",\n" + std::string(kKernel));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const KinetoRead read = read_text(std::string_view(whole).substr(0, length));
    REQUIRE(read.report.broken);
    CHECK(read.report.broken->offset <= length);
    const bool first_whole = length >= whole.find(",\n{");
    const bool both_whole = length >= whole.size() - 2;
    CHECK(read.recorder.events.size() ==
          static_cast<std::size_t>(first_whole) + static_cast<std::size_t>(both_whole));
  }
  const KinetoRead wrong = read_text(trace_of(std::string(kKernel) + R"~(,{"ph" 1}, {}])~"));
  REQUIRE(wrong.report.broken);
  CHECK(wrong.report.broken->id == "json-syntax");
  CHECK(wrong.recorder.events.size() == 1);
}

TEST_CASE("times that are no numbers are counted", "[traces]") {
  const KinetoRead read = read_text(trace_of(
      R"~({"ph":"X","cat":"kernel","name":"k","ts":1e300,"dur":1},{"ph":"X","cat":"kernel","name":"k","dur":1},)~"
      R"~({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1})~"));
  REQUIRE(read.recorder.events.size() == 1);  // What has a start has a place.
  CHECK(read.recorder.events[0].event.duration_ns == 0);
  CHECK(read.recorder.dropped.at("events whose time is no number") == 2);
  CHECK(read.recorder.dropped.at("durations that are negative or no number, read as 0") == 1);
}

TEST_CASE("deep nesting and other shapes end in an error, not in the stack", "[traces]") {
  CHECK(read_text(std::string(500000, '[')).report.broken);
  CHECK(read_text("{\"a\":" + std::string(500000, '{')).report.broken);
  CHECK(read_text("{}").report.broken->message == "the object has no list \"traceEvents\"");
  CHECK(read_text("").report.broken->id == "trace-empty");
  CHECK(read_text("42").report.broken->id == "trace-form");
  CHECK(read_text("[] []").report.broken->id == "trace-trailing");
  CHECK_FALSE(read_text("[]").report.broken);
}

TEST_CASE("an event larger than any is refused", "[traces]") {
  const KinetoRead read =
      read_text("[{\"name\":\"" + std::string(std::size_t{3} << 20, 'x') + "\"}]");
  REQUIRE(read.report.broken);
  CHECK(read.report.broken->id == "trace-value");
}

TEST_CASE("gzip of several members is one text; a damaged one says so", "[traces]") {
  const std::string text = trace_of(kKernel);
  const std::string packed = gzip(text.substr(0, 50)) + gzip(text.substr(50));
  CHECK(read_text(packed).recorder.events.size() == 1);
  CHECK_FALSE(read_text(packed).report.broken);
  const KinetoRead cut = read_text(std::string_view(packed).substr(0, packed.size() - 12));
  REQUIRE(cut.report.broken);
  CHECK(cut.report.broken->id == "trace-damaged");
}

}  // namespace mansard::traces
