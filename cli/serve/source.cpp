#include "cli/serve/source.hpp"

#include <limits>

#include <fmt/format.h>

#include "cli/serve/reading.hpp"
#include "traces/requests/generate.hpp"

namespace mansard::cli {
namespace {

namespace requests = traces::requests;

requests::Arrivals::Kind arrivals_kind(const std::string& word) {
  using Kind = requests::Arrivals::Kind;
  if (word == "gamma") {
    return Kind::kGamma;
  }
  if (word == "constant") {
    return Kind::kConstant;
  }
  return word == "closed" ? Kind::kClosed : Kind::kPoisson;
}

requests::Workload workload_of_serve(const ServeOptions& options, Reading& reading) {
  requests::Workload w;
  w.arrivals.kind = arrivals_kind(options.arrivals);
  const auto more_than_none = [&](const char* option, double value) {
    if (!(value > 0)) {
      reading.wrong(option, fmt::format("{:g}", value), "more than 0");
    }
  };
  more_than_none("--rate", options.rate.value_or(1));
  more_than_none("--scale-rate", options.scale);
  more_than_none("--burstiness", options.burstiness);
  w.arrivals.rate = options.rate.value_or(1) * options.scale;
  w.arrivals.shape = options.burstiness;
  w.arrivals.users = static_cast<std::uint32_t>(options.users);
  w.arrivals.think_time = reading.amount("--think-time", options.think_time, kSecond);
  w.input = reading.take(requests::parse_lengths(options.input, false));
  w.output = reading.take(requests::parse_lengths(options.output, true));
  const std::int64_t limit =
      options.requests.empty() ? 1000 : std::numeric_limits<std::int64_t>::max();
  w.requests = static_cast<std::uint64_t>(options.num_requests.value_or(limit));
  w.seed = options.seed;
  return w;
}

std::string arrivals_name(const ServeOptions& options) {
  const std::string kind = options.arrivals.empty() ? "poisson" : options.arrivals;
  return kind == "closed"
             ? fmt::format("closed loop of {} users", options.users)
             : fmt::format("{} {:g}/s", kind, options.rate.value_or(1) * options.scale);
}

}  // namespace

Result<RequestOrigin> request_origin(const ServeOptions& options) {
  Reading reading;
  const requests::Workload workload = workload_of_serve(options, reading);
  if (!reading.errors.empty()) {
    return failure(std::move(reading.errors));
  }
  RequestOrigin result;
  if (options.requests.empty()) {
    result.source = requests::generate(workload);
    result.name = arrivals_name(options);
    return result;
  }
  auto reader = requests::open_requests(options.requests);
  if (!reader) {
    return failure(std::move(reader.error()));
  }
  result.reader = reader->get();
  result.name = "trace " + (*reader)->report().format;
  if (!options.arrivals.empty() || options.rate) {
    result.source = requests::with_arrivals(std::move(*reader), workload);
    result.name += ", " + arrivals_name(options);
  } else {
    result.source = requests::scaled(std::move(*reader), options.scale, workload.requests);
    result.name += options.scale == 1 ? "" : fmt::format(" at {:g} times its rate", options.scale);
  }
  return result;
}

}  // namespace mansard::cli
