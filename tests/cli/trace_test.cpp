#include <utility>

#include "tests/cli/trace_files.hpp"

namespace mansard::cli {
namespace {

/// A dataset of one file, removed at the end.
class Dataset {
 public:
  explicit Dataset(const std::string& file)
      : path(std::filesystem::temp_directory_path() /
             ("mansard-cli-test-" + std::to_string(::getpid()) + ".db")) {
    REQUIRE(run_words({"trace", "import", file, "-o", path}).exit_code == 0);
  }
  ~Dataset() { std::filesystem::remove(path); }
  const std::string path;
};

}  // namespace

TEST_CASE("kernels of a decode step are the ops of its model, FLOP for FLOP", "[trace]") {
  const char* folder = shared_folder();
  if (folder == nullptr) {
    return;
  }
  const Dataset trace(std::string(folder) + "/data/traces/trace_llama3-8b_decode_b1_c2048.json.gz");
  const auto roofline =
      json_of({"trace", "roofline", trace.path, "llama3-8b", "--context", "2048"});
  CHECK(roofline["classified_share"].get<double>() >= 0.99);
  const auto prediction = json_of({"predict", "llama3-8b", "-m", "h200-sxm", "--context", "2048"});
  for (const auto& op : prediction["ops"]) {
    if (op["kind"] != "matmul" && op["kind"] != "attention") {
      continue;
    }
    double flops = 0;
    double bytes = 0;
    for (const auto& kernel : roofline["kernels"]) {
      const bool same = kernel["op"] == op["name"];
      flops += same ? kernel["flops"].get<double>() : 0;
      bytes += same ? kernel["bytes"].get<double>() : 0;
    }
    CAPTURE(op["name"]);
    CHECK(flops == op["flops"].get<double>() * op["count"].get<double>());
    CHECK(bytes == op["bytes"].get<double>() * op["count"].get<double>());
  }
}

TEST_CASE("known kernels lie on their side of the ridge", "[trace]") {
  const char* folder = shared_folder();
  if (folder == nullptr) {
    return;
  }
  const Dataset trace(std::string(folder) + "/data/kernels/ncu_raw.csv.gz");
  const auto roofline = json_of({"trace", "roofline", trace.path});
  for (const auto& kernel : roofline["kernels"]) {
    const std::string name = kernel["name"];
    CAPTURE(name);
    const bool computes = name == "matmul_wmma" || name == "matmul_naive" || name == "mandelbrot" ||
                          name == "int_hash" || name == "bank_stride";
    CHECK(kernel["side"] == (computes ? "compute" : "memory"));
  }
}

TEST_CASE("rows measured on two machines are projected within a fifth", "[trace]") {
  const char* folder = shared_folder();
  if (folder == nullptr) {
    return;
  }
  const std::string data = std::string(folder) + "/data/measurements/";
  const std::pair<const char*, const char*> machines[] = {{"v100-pcie", "a100-pcie-40gb"},
                                                          {"t4", "v100-pcie"}};
  for (const auto& [from, to] : machines) {
    std::vector<std::string> words{"trace", "project", "--from",        from,
                                   "--to",  to,        "--measurements"};
    for (const char* kind : {"bmm", "linear", "elementwise", "ln", "softmax"}) {
      words.push_back(data + "neusight." + from + "." + kind + ".csv");
      words.push_back(data + "neusight." + to + "." + kind + ".csv");
    }
    const auto projection = json_of(words);
    for (const auto& row : projection["classes"]) {
      if (row["class"] == "all") {
        CAPTURE(from, to);
        CHECK(row["rows"].get<int>() > 400);
        CHECK(row["median_ape"].get<double>() < 0.1);
      }
    }
  }
}

}  // namespace mansard::cli
