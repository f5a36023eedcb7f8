#include <map>

#include "tests/cli/trace_files.hpp"

namespace mansard::cli {
namespace {

using nlohmann::json;

json kernel_of(const json& projection, const std::string& part) {
  for (const json& kernel : projection["kernels"]) {
    if (kernel["name"].get<std::string>().find(part) != std::string::npos) {
      return kernel;
    }
  }
  FAIL("no kernel " << part);
  return {};
}

}  // namespace

TEST_CASE("every kernel of a projection says what its model is, unknown ones are listed",
          "[trace]") {
  const Folder folder;
  const std::string trace = folder.write("step.json", small_trace());
  const json p = json_of({"trace", "project", trace, "--to", "h200-sxm"});
  CHECK(p["from"] == "h100-sxm");
  CHECK(kernel_of(p, "nvjet")["how"] == "shapes");
  CHECK(kernel_of(p, "AllReduce")["how"] == "message");
  CHECK(kernel_of(p, "my_own_thing")["how"] == "unknown");
  REQUIRE(p["unclassified"].size() == 1);
  CHECK(p["unclassified"][0]["name"] == "my_own_thing");
  // Device memory's bandwidth: 4.8 TB/s over 3.35 TB/s.
  CHECK(kernel_of(p, "my_own_thing")["speedup"].get<double>() == Approx(4.8 / 3.35).epsilon(0.02));
}

TEST_CASE("communication goes by latency and bandwidth of both machines' links", "[trace]") {
  const Folder folder;
  const std::string trace = folder.write("step.json", small_trace());
  const auto speedup = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"trace", "project", trace, "--to", "h100-sxm"};
    words.insert(words.end(), more.begin(), more.end());
    return kernel_of(json_of(words), "AllReduce")["speedup"].get<double>();
  };
  CHECK(speedup({}) == Approx(1));
  // 64 MiB over eight devices: mostly bandwidth, but the start stays.
  const double faster = speedup({"--set", "nvlink.bandwidth=900 GB/s"});
  CHECK(faster > 1.3);
  CHECK(faster < 2);
  // Beyond the links' reach the network takes over.
  CHECK(speedup({"--set", "nvlink.devices=4"}) < 0.5);
}

TEST_CASE("the critical path of a projection is as long as the trace", "[trace]") {
  const Folder folder;
  const std::string trace = folder.write("step.json", small_trace());
  const json p = json_of({"trace", "project", trace, "--to", "a100-sxm-80gb"});
  double measured = 0;
  double projected = 0;
  for (const json& part : p["critical_path"]) {
    measured += part["measured_s"].get<double>();
    projected += part["projected_s"].get<double>();
  }
  CHECK(measured == Approx(604.5e-6));  // 18 us to 622.5 us.
  CHECK(measured == Approx(p["totals"]["measured_span_s"].get<double>()));
  CHECK(projected == Approx(p["totals"]["projected_span_s"].get<double>()));
  CHECK(p["totals"]["low_span_s"].get<double>() <= projected);
  CHECK(p["totals"]["high_span_s"].get<double>() >= projected);
}

TEST_CASE("a projection is a dataset with predictions, and its file for Perfetto is sound",
          "[trace]") {
  const Folder folder;
  const std::string trace = folder.write("step.json", small_trace());
  const std::string next = folder.at("next.db");
  const std::string chrome = folder.at("next.json");
  REQUIRE(run_words(
              {"trace", "project", trace, "--to", "a100-sxm-80gb", "-o", next, "--chrome", chrome})
              .exit_code == 0);
  const json rows = json_of({"trace", "query", next,
                             "SELECT p.critical, k.duration_ns = p.duration_ns AS same FROM "
                             "predictions p JOIN kernels k ON k.id = p.kernel"})["rows"];
  REQUIRE(rows.size() == 3);
  for (const json& row : rows) {
    CHECK(row["same"] == 1);
  }
  std::ifstream stream(chrome);
  const json drawn = json::parse(stream);
  std::map<std::string, int> phases;
  std::map<int, double> flows;
  for (const json& event : drawn["traceEvents"]) {
    ++phases[event["ph"].get<std::string>()];
    REQUIRE(event["pid"].is_number_integer());
    REQUIRE(event["tid"].is_number_integer());
    if (event["ph"] == "X") {
      CHECK(event["dur"].get<double>() >= 0);
      CHECK(event["ts"].get<double>() >= 0);
    } else if (event["ph"] == "s") {
      flows[event["id"].get<int>()] = event["ts"].get<double>();
    } else if (event["ph"] == "f") {
      REQUIRE(flows.count(event["id"].get<int>()) == 1);
      CHECK(event["ts"].get<double>() >= flows[event["id"].get<int>()]);
      CHECK(event["bp"] == "e");
    }
  }
  CHECK(phases["X"] == 11);  // Seven calls, three kernels, a copy.
  CHECK(phases["s"] == 4);
  CHECK(phases["f"] == 4);
  CHECK(phases["M"] == 4);  // A device, a process, two streams.
  // It is a trace like any other.
  const json again = json_of({"trace", "show", chrome});
  CHECK(again["kernels"] == 3);
  CHECK(again["kernels_linked"] == 3);
}

TEST_CASE("time of the host can be scaled", "[trace]") {
  const Folder folder;
  const std::string trace = folder.write("step.json", small_trace());
  const auto span = [&](const std::string& scale) {
    return json_of({"trace", "project", trace, "--to", "h100-sxm", "--host-scale",
                    scale})["totals"]["projected_span_s"]
        .get<double>();
  };
  CHECK(span("1") == Approx(604.5e-6));
  CHECK(span("100") > 1e-3);
}

}  // namespace mansard::cli
