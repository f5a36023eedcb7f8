#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/request.hpp"
#include "model/serve/service.hpp"
#include "support/random.hpp"

/// Services without a model: times are given, so that results follow from formulas.
namespace mansard::model::serve {

/// A constant time an iteration and a time a token.
class TokenTimer final : public StepTimer {
 public:
  explicit TokenTimer(double iteration = 1e-3, double token = 1e-6)
      : iteration_(iteration), token_(token) {}
  StepCost cost(const Batch& batch, std::span<double> busy) override {
    const double seconds = iteration_ + token_ * static_cast<double>(batch.tokens());
    if (!busy.empty()) {
      busy[0] += seconds;
    }
    return {.seconds = seconds, .prompt_seconds = 0, .joules = 0};
  }
  std::span<const std::string> resources() const override { return resources_; }

 private:
  double iteration_;
  double token_;
  std::vector<std::string> resources_{"hbm"};
};

/// One replica whose host takes no time.
inline Pool small_pool(StepTimer& timer) {
  Pool pool;
  pool.name = "test";
  pool.timer = &timer;
  pool.blocks = 4096;
  pool.block_bytes = 1000;
  pool.swap_bytes_per_second = 1e9;
  pool.settings.host_seconds = 0;
  pool.settings.host_seconds_per_sequence = 0;
  return pool;
}

inline ir::Request made_request(std::uint64_t id, double arrival, std::uint32_t input,
                                std::uint32_t output) {
  ir::Request request;
  request.id = id;
  request.arrival = arrival;
  request.input_tokens = input;
  request.output_tokens = output;
  return request;
}

class ListSource final : public ir::RequestSource {
 public:
  explicit ListSource(std::vector<ir::Request> requests) : requests_(std::move(requests)) {}
  std::optional<ir::Request> next() override {
    return at_ < requests_.size() ? std::optional(requests_[at_++]) : std::nullopt;
  }

 private:
  std::vector<ir::Request> requests_;
  std::size_t at_ = 0;
};

/// Users who each wait for an answer, think an exponential time, and ask again.
class LoopSource final : public ir::RequestSource {
 public:
  LoopSource(std::uint32_t users, std::uint64_t requests, double think, std::uint32_t input,
             std::uint32_t output)
      : users_(users), left_(requests), think_(think), input_(input), output_(output) {}

  std::optional<ir::Request> next() override {
    return started_ < users_ ? make(think_ * static_cast<double>(started_++) / users_)
                             : std::nullopt;
  }
  std::optional<ir::Request> after(const ir::Request& /*finished*/, double now) override {
    return make(now + think_ * random_.exponential());
  }

 private:
  std::optional<ir::Request> make(double arrival) {
    return made_ < left_ ? std::optional(made_request(made_++, arrival, input_, output_))
                         : std::nullopt;
  }

  std::uint32_t users_;
  std::uint64_t left_;
  double think_;
  std::uint32_t input_;
  std::uint32_t output_;
  std::uint64_t made_ = 0;
  std::uint32_t started_ = 0;
  Random random_{5};
};

}  // namespace mansard::model::serve
