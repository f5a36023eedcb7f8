#include <cstdio>
#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <unistd.h>

#include "tests/traces/generated_trace.hpp"
#include "traces/import.hpp"
#include "traces/kineto/kineto.hpp"

namespace mansard::traces {
namespace {

constexpr std::size_t kKernels = 100'000;

/// Takes everything and keeps nothing.
class Nothing : public ir::TraceSink {
 public:
  void device(const ir::TraceDevice&) override {}
  std::int64_t event(const ir::TraceEvent& event) override {
    benchmark::DoNotOptimize(event.start_ns);
    return ++events_;
  }
  void counter(std::int64_t, const ir::TraceCounter&) override {}
  void count(std::string_view, std::int64_t, bool) override {}

 private:
  std::int64_t events_ = 0;
};

const std::string& text() {
  static const std::string trace = generated_trace(kKernels);
  return trace;
}

void simdjson_dom(benchmark::State& state) {
  const simdjson::padded_string padded(text());
  simdjson::dom::parser parser;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parser.parse(padded).error());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}
BENCHMARK(simdjson_dom)->Unit(benchmark::kMillisecond);

/// simdjson's streaming interface, asked for what every event has.
void simdjson_ondemand(benchmark::State& state) {
  const simdjson::padded_string padded(text());
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    auto document = parser.iterate(padded);
    double sum = 0;
    for (auto event : document["traceEvents"].get_array()) {
      std::string_view phase;
      std::string_view category;
      std::string_view name;
      double start = 0;
      double duration = 0;
      for (auto field : event.get_object()) {
        const std::string_view key = field.unescaped_key();
        auto value = field.value();
        if (key == "ph") {
          phase = value.get_string();
        } else if (key == "cat") {
          category = value.get_string();
        } else if (key == "name") {
          name = value.get_string();
        } else if (key == "ts") {
          start = value.get_double();
        } else if (key == "dur") {
          duration = value.get_double();
        }
      }
      sum += start + duration + static_cast<double>(phase.size() + category.size() + name.size());
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}
BENCHMARK(simdjson_ondemand)->Unit(benchmark::kMillisecond);

void kineto_reader(benchmark::State& state) {
  for (auto _ : state) {
    Nothing sink;
    benchmark::DoNotOptimize(read_kineto(ByteSource::of(text()), sink).bytes);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}
BENCHMARK(kineto_reader)->Unit(benchmark::kMillisecond);

void kineto_to_dataset(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string stem = folder / ("mansard-bench-" + std::to_string(::getpid()));
  const std::vector<std::string> files{stem + ".json"};
  std::ofstream(files.front()) << text();
  for (auto _ : state) {
    benchmark::DoNotOptimize(import_files(files, stem + ".db").has_value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
  std::filesystem::remove(files.front());
  std::filesystem::remove(stem + ".db");
}
BENCHMARK(kineto_to_dataset)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mansard::traces
