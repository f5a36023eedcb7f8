#include "traces/requests/generate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "support/random.hpp"

namespace mansard::traces::requests {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

class LengthSampler {
 public:
  explicit LengthSampler(const Lengths& lengths) : lengths_(lengths) {
    // The mean of a lognormal is exp(mu + sigma^2 / 2).
    location_ =
        portable_log(std::max(lengths.mean, 1e-9)) - lengths.deviation * lengths.deviation / 2;
  }

  std::uint32_t next(Random& random) const {
    double value = lengths_.mean;
    if (lengths_.kind == Lengths::Kind::kUniform) {
      value = std::floor(lengths_.least + random.uniform() * (lengths_.most - lengths_.least + 1));
    } else if (lengths_.kind == Lengths::Kind::kLognormal) {
      value = std::round(
          portable_exp(std::clamp(location_ + lengths_.deviation * random.normal(), -50.0, 50.0)));
    }
    if (lengths_.kind != Lengths::Kind::kFixed) {
      value = std::clamp(value, std::max(lengths_.least, 1.0), lengths_.most);
    }
    return static_cast<std::uint32_t>(value);
  }

 private:
  Lengths lengths_;
  double location_ = 0;
};

class MadeLengths final : public ir::RequestSource {
 public:
  explicit MadeLengths(const Workload& workload)
      : input_(workload.input), output_(workload.output), random_(workload.seed) {}

  std::optional<ir::Request> next() override {
    ir::Request request;
    request.id = ids_++;
    request.input_tokens = input_.next(random_);
    request.output_tokens = output_.next(random_);
    return request;
  }

 private:
  LengthSampler input_, output_;
  Random random_;
  std::uint64_t ids_ = 0;
};

/// Gives the requests of another source times of their own.
class Timed final : public ir::RequestSource {
 public:
  Timed(std::unique_ptr<ir::RequestSource> source, const Workload& workload)
      : source_(std::move(source)),
        arrivals_(workload.arrivals),
        left_(workload.requests),
        random_(workload.seed ^ 0xa11ce5U) {}

  std::optional<ir::Request> next() override {
    const bool closed = arrivals_.kind == Arrivals::Kind::kClosed;
    if (closed && users_ >= arrivals_.users) {
      return std::nullopt;  // the rest follow answers
    }
    auto request = take();
    if (request) {
      request->arrival = closed ? 0 : time_;
      if (closed) {
        request->user = users_++;
      } else {
        time_ += gap();
      }
    }
    return request;
  }

  std::optional<ir::Request> after(const ir::Request& finished, double now) override {
    if (arrivals_.kind != Arrivals::Kind::kClosed) {
      return std::nullopt;
    }
    auto request = take();
    if (request) {
      request->arrival = now + arrivals_.think_time;
      request->user = finished.user;
    }
    return request;
  }

 private:
  std::optional<ir::Request> take() {
    if (left_ == 0) {
      return std::nullopt;
    }
    --left_;
    return source_->next();
  }

  double gap() {
    if (!std::isfinite(arrivals_.rate)) {
      return 0;
    }
    switch (arrivals_.kind) {
      case Arrivals::Kind::kPoisson:
        return random_.exponential() / arrivals_.rate;
      case Arrivals::Kind::kGamma:
        return random_.gamma(arrivals_.shape) / (arrivals_.shape * arrivals_.rate);
      case Arrivals::Kind::kConstant:
      case Arrivals::Kind::kClosed:
        break;
    }
    return 1 / arrivals_.rate;
  }

  std::unique_ptr<ir::RequestSource> source_;
  Arrivals arrivals_;
  std::uint64_t left_;
  Random random_;
  double time_ = 0;
  std::uint32_t users_ = 0;
};

class Scaled final : public ir::RequestSource {
 public:
  Scaled(std::unique_ptr<ir::RequestSource> source, double scale, std::uint64_t requests)
      : source_(std::move(source)), scale_(scale), left_(requests) {}

  std::optional<ir::Request> next() override {
    if (left_ == 0) {
      return std::nullopt;
    }
    --left_;
    auto request = source_->next();
    if (request) {
      request->arrival /= scale_;
    }
    return request;
  }

 private:
  std::unique_ptr<ir::RequestSource> source_;
  double scale_;
  std::uint64_t left_;
};

tl::unexpected<Diagnostics> no_lengths(std::string_view text) {
  return failure("lengths",
                 fmt::format("expected a number of tokens, uniform:A..B, lognormal:MEAN,SIGMA or "
                             "sharegpt, found '{}'",
                             text));
}

}  // namespace

Result<Lengths> parse_lengths(std::string_view text, bool output) {
  constexpr double kMost = 1e9;
  const auto two = [&](std::string_view name,
                       std::string_view separator) -> std::optional<std::pair<double, double>> {
    const std::string_view rest = text.substr(name.size());
    const std::size_t at = rest.find(separator);
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
    const auto a = number(rest.substr(0, at));
    const auto b = number(rest.substr(at + separator.size()));
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  };
  Lengths result;
  if (text == "sharegpt") {
    result = {.kind = Lengths::Kind::kLognormal, .mean = output ? 338.0 : 161.0, .deviation = 1};
  } else if (text.starts_with("uniform:")) {
    const auto ends = two("uniform:", "..");
    if (!ends || ends->first > ends->second || ends->second > kMost) {
      return no_lengths(text);
    }
    result = {.kind = Lengths::Kind::kUniform, .least = ends->first, .most = ends->second};
  } else if (text.starts_with("lognormal:")) {
    const auto shape = two("lognormal:", ",");
    if (!shape || shape->first < 1 || shape->first > kMost || shape->second > 10) {
      return no_lengths(text);
    }
    result = {.kind = Lengths::Kind::kLognormal, .mean = shape->first, .deviation = shape->second};
  } else {
    const auto tokens = number(text);
    if (!tokens || *tokens < 1 || *tokens > kMost || *tokens != std::floor(*tokens)) {
      return no_lengths(text);
    }
    result.mean = *tokens;
  }
  return result;
}

std::unique_ptr<ir::RequestSource> generate(const Workload& workload) {
  return with_arrivals(std::make_unique<MadeLengths>(workload), workload);
}

std::unique_ptr<ir::RequestSource> with_arrivals(std::unique_ptr<ir::RequestSource> source,
                                                 const Workload& workload) {
  return std::make_unique<Timed>(std::move(source), workload);
}

std::unique_ptr<ir::RequestSource> scaled(std::unique_ptr<ir::RequestSource> source, double scale,
                                          std::uint64_t requests) {
  return std::make_unique<Scaled>(std::move(source), scale, requests);
}

}  // namespace mansard::traces::requests
