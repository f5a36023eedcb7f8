#include <array>

#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/serving.hpp"

namespace mansard::cli {
namespace {

namespace serve = model::serve;

constexpr std::array<const char*, 13> kNames{
    "arrival",  "rejected",  "admitted", "first_token", "preempted", "handed_over", "transferred",
    "finished", "iteration", "failure",  "recovery",    "started",   "stopped"};

const char* name_of(serve::EventKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

bool has_request(serve::EventKind kind) {
  return kind < serve::EventKind::kIteration;
}

}  // namespace

std::string served_header() {
  return "request,arrival_s,input_tokens,output_tokens,user,priority,status,admitted_s,"
         "first_token_s,finished_s,ttft_s,tpot_s,latency_s,cached_tokens,preemptions,replica\n";
}

std::string served_line(const serve::Served& served) {
  const ir::Request& r = *served.request;
  const auto tpot = served.tpot();
  return fmt::format("{},{},{},{},{},{},completed,{},{},{},{},{},{},{},{},{}\n", r.id,
                     csv_number(r.arrival), r.input_tokens, r.output_tokens, r.user, r.priority,
                     csv_number(served.admitted), csv_number(served.first_token),
                     csv_number(served.finished), csv_number(served.ttft()),
                     tpot ? csv_number(*tpot) : "", csv_number(served.latency()),
                     served.cached_tokens, served.preemptions, served.replica);
}

std::string rejected_line(const ir::Request& r, std::string_view reason) {
  return fmt::format("{},{},{},{},{},{},{},,,,,,,,,\n", r.id, csv_number(r.arrival), r.input_tokens,
                     r.output_tokens, r.user, r.priority,
                     csv_field(fmt::format("rejected: {}", reason)));
}

std::string event_line(const serve::Event& e) {
  std::string text = fmt::format(R"({{"time_s": {}, "event": "{}", "replica": {})",
                                 csv_number(e.time), name_of(e.kind), e.replica);
  if (has_request(e.kind)) {
    text += fmt::format(R"(, "request": {})", e.request);
  }
  if (!e.reason.empty()) {
    text += fmt::format(R"(, "reason": "{}")", e.reason);
  }
  if (e.kind == serve::EventKind::kIteration) {
    text +=
        fmt::format(R"(, "end_s": {}, "decodes": {}, "chunks": {}, "tokens": {}, "kv_used": {})",
                    csv_number(e.end), e.decodes, e.chunks, e.tokens, csv_number(e.kv_used));
  }
  return text + "}\n";
}

std::string event_chrome(const serve::Event& e) {
  constexpr double kMicroseconds = 1e6;
  if (e.kind == serve::EventKind::kIteration) {
    return fmt::format(
        R"({{"ph": "X", "name": "{}", "pid": {}, "tid": 0, "ts": {:.3f}, "dur": {:.3f}, "args": {{"decodes": {}, "chunks": {}, "tokens": {}, "kv_used": {}}}}})",
        e.chunks == 0 ? "decode" : (e.decodes == 0 ? "prefill" : "mixed"), e.replica,
        e.time * kMicroseconds, (e.end - e.time) * kMicroseconds, e.decodes, e.chunks, e.tokens,
        csv_number(e.kv_used));
  }
  return fmt::format(
      R"({{"ph": "i", "s": "p", "name": "{}", "pid": {}, "tid": 1, "ts": {:.3f}, "args": {{"request": {}}}}})",
      name_of(e.kind), e.replica, e.time * kMicroseconds, e.request);
}

}  // namespace mansard::cli
