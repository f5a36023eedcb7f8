#include "traces/requests/requests.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

#include "traces/requests/row.hpp"
#include "traces/requests/served.hpp"

namespace mansard::traces::requests {
namespace {

struct Read {
  std::vector<ir::Request> requests;
  ReadReport report;
};

Read read(std::string text) {
  auto reader = read_requests("trace", std::move(text));
  REQUIRE(reader.has_value());
  Read result;
  while (auto request = (*reader)->next()) {
    result.requests.push_back(std::move(*request));
  }
  result.report = (*reader)->report();
  return result;
}

/// A file of the shared data, or "" where it is not there.
std::string shared(const std::string& name) {
  const char* root = std::getenv("MANSARD_SHARED");
  if (root == nullptr) {
    WARN("skipped: MANSARD_SHARED is not set");
    return {};
  }
  return std::string(root) + "/data/samples/" + name;
}

struct Totals {
  std::uint64_t rows = 0;
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  double span = 0;
};

Totals totals_of(const std::string& path) {
  auto reader = open_requests(path);
  REQUIRE(reader.has_value());
  Totals totals;
  while (const auto request = (*reader)->next()) {
    ++totals.rows;
    totals.input += request->input_tokens;
    totals.output += request->output_tokens;
    totals.span = request->arrival;
  }
  return totals;
}

TEST_CASE("an Azure trace reads to the last of its seven digits", "[requests]") {
  const Read r = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-16 18:17:04.0319601,3180,8");
  CHECK(r.report.format == "azure");
  REQUIRE(r.requests.size() == 2);
  CHECK(r.requests[0].input_tokens == 4808);
  CHECK(r.requests[1].output_tokens == 8);
  CHECK(r.requests[1].arrival == Approx(0.0520001).epsilon(1e-12));
}

TEST_CASE("the Azure trace of 2024 states an offset from UTC", "[requests]") {
  CHECK(*parse_date_time("2024-05-10 00:00:00.009930+00:00") -
            *parse_date_time("2024-05-10 02:00:00+02:00") ==
        9'930'000);
  CHECK_FALSE(parse_date_time("2024-02-30 00:00:00"));
  CHECK_FALSE(parse_date_time("2024-05-10 00:00"));
}

TEST_CASE("times are exact where a double is not", "[requests]") {
  CHECK(*parse_time("1787267980.0827403", 1'000'000'000) == 1787267980082740300);
  CHECK(*parse_time("-0.5", 1'000'000'000) == -500'000'000);
  CHECK(*parse_time("1e3", 1'000'000) == 1'000'000'000);
  CHECK_FALSE(parse_time("", 1));
  CHECK_FALSE(parse_time("nan", 1));
  CHECK_FALSE(parse_time("99999999999999999999", 1));
  CHECK_FALSE(parse_time("9223372036854775807", 1'000'000'000));
}

TEST_CASE("a BurstGPT response without tokens is a failure, in either number of columns",
          "[requests]") {
  const Read six = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n");
  CHECK(six.report.format == "burstgpt");
  CHECK(six.report.failed == 1);
  CHECK(six.requests.at(1).arrival == 40);
  const Read eight = read(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n5.5,s1,1.5,GPT-4,10,20,30,Conversation log\n6.0,s1,1,GPT-4,11,21,32,Conversation "
      "log\n");
  REQUIRE(eight.requests.size() == 2);
  CHECK(eight.requests[0].user == eight.requests[1].user);
  CHECK(eight.requests[1].input_tokens == 11);
}

TEST_CASE("Mooncake's blocks of 512 tokens come along", "[requests]") {
  const Read r =
      read(R"({"timestamp": 27, "input_length": 600, "output_length": 6, "hash_ids": [0, 7]})"
           "\n"
           R"({"timestamp": 1027, "input_length": 600, "output_length": 6, "hash_ids": [0, 8]})");
  REQUIRE(r.requests.size() == 2);
  CHECK(r.requests[1].arrival == 1);
  CHECK(r.requests[1].prompt->tokens == 512);
  CHECK(r.requests[1].prompt->ids == std::vector<std::uint64_t>{0, 8});
}

TEST_CASE("a ShareGPT list may be spread over lines, and starts at the first question",
          "[requests]") {
  const Read r = read(
      "[\n{\"id\": \"a\", \"conversations\": [\n{\"from\": \"gpt\", \"value\": \"hello\"},"
      "{\"from\": \"human\", \"value\": \"how { are \\\" you\"},{\"from\": \"gpt\", \"value\": "
      "\"fine, thank you.\"}]},\n{\"id\": \"b\", \"conversations\": []}\n]\n");
  CHECK(r.report.format == "sharegpt");
  CHECK(r.report.unreadable == 1);
  REQUIRE(r.requests.size() == 1);
  CHECK(r.requests[0].output_tokens == 4);  // 16 characters
}

TEST_CASE("bad rows are counted and shown with their places, and the rest is read", "[requests]") {
  const Read r = read(
      "arrival_s,input_tokens,output_tokens\n0,1,1\nx,1,1\n1,-5,1\n2,1\n\n3,0,0\n2.5,9,9\n"
      "4,99999999999,1\n5,7,7\n");
  CHECK(r.report.rows == 8);
  CHECK(r.report.unreadable == 4);
  CHECK(r.report.requests == 4);
  CHECK(r.report.zero_input == 1);
  CHECK(r.report.out_of_order == 1);
  CHECK(r.report.too_late == 0);
  CHECK(r.requests.at(1).input_tokens == 9);  // sorted
  CHECK_THAT(render(r.report.problems.front()),
             Catch::Contains("trace:3:1: warning: expected a time"));
}

TEST_CASE("rows too far out of order arrive with the one before, and none is lost", "[requests]") {
  std::string text = "arrival_s,input_tokens,output_tokens\n";
  for (int i = 1; i <= 70000; ++i) {
    text += std::to_string(i) + ",1,1\n";
  }
  text += "0,5,5\n";
  const Read r = read(text);
  CHECK(r.requests.size() == 70001);
  CHECK(r.report.too_late == 1);
  double before = 0;
  for (const ir::Request& request : r.requests) {
    REQUIRE(request.arrival >= before);
    before = request.arrival;
  }
}

TEST_CASE("what is no trace is refused, naming the formats", "[requests]") {
  const auto refused = read_requests("trace", "hello\n");
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(render(refused.error()), Catch::Contains("burstgpt") && Catch::Contains("mooncake"));
  CHECK_FALSE(read_requests("trace", ""));
  // Begins as Azure's and BurstGPT's do, but has not their columns.
  CHECK_FALSE(read_requests("trace", "TIMESTAMP,ContextTokens,GeneratedTokensC\n1,2,3\n"));
  CHECK_FALSE(read_requests("trace", "Timestamp,Model,Request tokens,Log Type\n1,a,3,b\n"));
  CHECK_FALSE(open_requests("no/such/file"));
}

TEST_CASE("public traces add up to what was counted independently", "[requests]") {
  const std::string azure = shared("requests/AzureLLMInferenceTrace_code.csv");
  if (azure.empty()) {
    return;
  }
  const Totals a = totals_of(azure);  // ORACLE.tsv
  CHECK(a.rows == 8819);
  CHECK(a.input == 18059974);
  CHECK(a.output == 245896);
  CHECK(a.span == Approx(3435.9480560).epsilon(1e-12));
  const Totals m = totals_of(shared("requests/mooncake_synthetic_full.jsonl"));
  CHECK(m.rows == 3993);
  CHECK(m.input == 61194628);
  CHECK(m.output == 595432);
}

TEST_CASE("a measured run's clocks are not mixed", "[requests]") {
  const std::string path = shared("serving/RTX4090_Llama-3.1-8B__vllm_requests.jsonl");
  if (path.empty()) {
    return;
  }
  const auto run = read_served(path);
  REQUIRE(run.has_value());
  CHECK(run->requests.size() == 300);
  double ttft = 0;
  double tpot = 0;
  for (const ir::ServedRequest& request : run->requests) {
    ttft += *request.ttft / 300;
    tpot += request.tpot.value_or(0) / 300;
  }
  CHECK(ttft == Approx(65.4566).epsilon(1e-5));  // validation_summary.txt beside it
  CHECK(tpot == Approx(0.0324).epsilon(0.01));
}

}  // namespace
}  // namespace mansard::traces::requests
