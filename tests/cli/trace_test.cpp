#include <map>
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

TEST_CASE("recorded shapes tell the FLOP and bytes of kernels without counters", "[trace]") {
  const auto event = [](const char* op, const char* dims, const char* type, const char* kernel,
                        int id) {
    const std::string args = "\"External id\": " + std::to_string(id);
    const std::string at = std::to_string(1000 * id);
    return R"~({"ph": "X", "cat": "cpu_op", "name": ")~" + std::string(op) +
           R"~(", "pid": 1, "tid": 1, "ts": )~" + at + R"~(, "dur": 50, "args": {)~" + args +
           R"~(, "Input Dims": )~" + dims + R"~(, "Input type": [")~" + type +
           R"~("]}}, {"ph": "X", "cat": "kernel", "name": ")~" + kernel +
           R"~(", "pid": 0, "tid": 7, "ts": )~" + at + R"~(, "dur": 700, "args": {)~" + args +
           R"~(, "correlation": 99}},)~";
  };
  const Folder folder;
  const std::string trace = folder.write(
      "shapes.json",
      R"~({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [)~" +
          event("aten::linear", "[[1,4096,4096],[14336,4096],[]]", "c10::BFloat16",
                "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", 1) +
          event("aten::_scaled_dot_product_flash_attention",
                "[[2,32,1024,128],[2,8,1024,128],[2,8,1024,128],[]]", "c10::Half",
                "void pytorch_flash::flash_fwd_kernel<x>", 2) +
          event("aten::add", "[[4096,4096],[4096,4096],[]]", "float",
                "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add>",
                3) +
          "]}");
  std::map<std::string, nlohmann::json> kernels;
  const nlohmann::json roofline = json_of({"trace", "roofline", trace});
  for (const auto& kernel : roofline["kernels"]) {
    kernels[kernel["op"].get<std::string>()] = kernel;
  }
  CHECK(kernels["matmul"]["flops"] == 2.0 * 4096 * 4096 * 14336);
  CHECK(kernels["matmul"]["bytes"] == 2.0 * (4096 * 4096 + 4096 * 14336 + 4096 * 14336));
  // Causal: S (S + 1) / 2 pairs a head, four FLOP for each of 128 dims; the softmax comes on top.
  const double contractions = 2 * 32 * 1024.0 * 1025 / 2 * 4 * 128;
  CHECK(kernels["attention"]["flops"].get<double>() >= contractions);
  CHECK(kernels["attention"]["flops"].get<double>() < 1.05 * contractions);
  CHECK(kernels["attention"]["bytes"] == 2.0 * (2 * 2 * 32 * 1024 * 128 + 2 * 2 * 8 * 1024 * 128));
  CHECK(kernels["elementwise"]["flops"] == 4096.0 * 4096);
  CHECK(kernels["elementwise"]["bytes"] == 3.0 * 4 * 4096 * 4096);
}

}  // namespace mansard::cli
