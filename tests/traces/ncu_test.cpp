#include "traces/ncu/ncu.hpp"

#include <catch2/catch.hpp>

#include "tests/traces/recorder.hpp"
#include "traces/ncu/values.hpp"

namespace mansard::traces {

TEST_CASE("a number tells its locale when it can", "[traces]") {
  CHECK(locale_of("4,963,609,951.19") == Locale::kPoint);
  CHECK(locale_of("4.963.609.951,19") == Locale::kComma);
  CHECK(locale_of("1,234") == Locale::kUnknown);
  CHECK(locale_of("1.234.567") == Locale::kComma);
  CHECK(locale_of("0.5") == Locale::kPoint);
  CHECK(locale_of("n/a") == Locale::kUnknown);
  CHECK(parse_number("4,963,609,951.19", Locale::kPoint) == 4963609951.19);
  CHECK(parse_number("4.963.609.951,19", Locale::kComma) == 4963609951.19);
  CHECK(parse_number("12,319,469", Locale::kUnknown) == 12319469);
  for (const char* text : {"n/a", "", "(!) nan", "no data", "CachePreferNone", "1-2"}) {
    CHECK(parse_number(text, Locale::kPoint) == std::nullopt);
  }
}

TEST_CASE("units become base units", "[traces]") {
  CHECK(base_unit("Kbyte/block").unit == "byte/block");
  CHECK(base_unit("Kbyte/block").factor == 1e3);
  CHECK(base_unit("usecond").unit == "second");
  CHECK(base_unit("Gbyte/second").factor == 1e9);
  CHECK(base_unit("Ghz").factor == 1e9);
  CHECK(base_unit("byte/ns").factor == Approx(1e9));
  CHECK(base_unit("warp").factor == 1);
}

TEST_CASE("the long page: preambles, ragged rows, other lines, a comma and a quote in a name",
          "[traces]") {
  constexpr std::string_view kText =
      "hello from the program\n"
      "==PROF== Connected to process 1\r\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
      "Size\",\"Device\",\"CC\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\r\n"
      "\"0\",\"1\",\"f<\"\"a\"\", 2>\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, "
      "1)\",\"0\",\"7.5\",\"S\",\"Duration\","
      "\"usecond\",\"1.234,50\"\r\n"
      "the program prints on\n"
      "\"0\",\"1\",\"f<\"\"a\"\", 2>\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, "
      "1)\",\"0\",\"7.5\",\"S\",\"Bad\",\"\",\"n/a\"\n"
      "\"1\",\"1\",\"g\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"7.5\",\"S\",\"Duration\",\"ns\",\"10\"";
  Recorder recorder;
  const ReadReport report = read_ncu(kText, recorder);
  CHECK_FALSE(report.broken);
  REQUIRE(recorder.events.size() == 2);
  CHECK(recorder.events[0].name == "f<\"a\", 2>");
  CHECK(recorder.events[0].event.grid == ir::Extent{1024, 2, 1});
  CHECK(recorder.events[0].event.duration_ns == 1234500);
  CHECK(recorder.events[1].event.duration_ns == 10);
  CHECK(recorder.texts.at("Bad") == "n/a");
  CHECK(recorder.dropped.at("lines that are no rows") == 1);
  CHECK(recorder.dropped.at("lines before the header") == 2);
  CHECK(report.run.clocks_locked);
}

TEST_CASE("the raw page: units in the second row, free clocks said before", "[traces]") {
  constexpr std::string_view kText =
      "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise\n"
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"x.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"Mbyte\"\n"
      "\"0\",\"k\",\"(32, 1, 1)\",\"(7, 1, 1)\",\"0\",\"9.0\",\"2.5\",\"1,000.5\"\n"
      "\"1\",\"k\",\"(32, 1, 1)\",\"(7, 1, 1)\",\"0\",\"9.0\",\"2.75\"\n";
  Recorder recorder;
  const ReadReport report = read_ncu(kText, recorder);
  CHECK_FALSE(report.run.clocks_locked);
  REQUIRE(recorder.events.size() == 2);
  CHECK(recorder.events[0].event.duration_ns == 2500);
  CHECK(recorder.counters.at("x.sum byte") == Approx(1000.5e6));
}

TEST_CASE("a file without the header is refused", "[traces]") {
  Recorder recorder;
  CHECK(read_ncu("", recorder).broken);
  CHECK(read_ncu("==PROF== nothing\n", recorder).broken);
  CHECK(read_ncu("\"ID\",\"Kernel Name\"", recorder).broken == std::nullopt);
}

}  // namespace mansard::traces
