#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// Requests to a server, as plain event data: what readers and generators yield and what the
/// simulator serves.
namespace mansard::ir {

/// What the prompt shares with others: equal ids at equal places, from the first on, are equal
/// tokens.
struct PromptBlocks {
  std::uint32_t tokens = 512;  ///< Of a block; the last block may be cut short.
  std::vector<std::uint64_t> ids;
};

struct Request {
  double arrival = 0;                          ///< Seconds after the first request of its source.
  std::uint64_t id = 0;                        ///< Counts the requests of a source from 0.
  std::uint32_t input_tokens = 0;              ///< Of the prompt.
  std::uint32_t output_tokens = 0;             ///< Wanted, the first included.
  std::int32_t priority = 0;                   ///< Lower comes first.
  std::uint32_t user = 0;                      ///< Who asks: a session, a closed loop's user.
  std::shared_ptr<const PromptBlocks> prompt;  ///< Null: nothing is known to be shared.
};

/// A stream of requests in order of arrival; holds none of them.
class RequestSource {
 public:
  RequestSource() = default;
  virtual ~RequestSource() = default;
  RequestSource(const RequestSource&) = delete;
  RequestSource& operator=(const RequestSource&) = delete;

  /// The next request; nullopt at the end of the stream.
  [[nodiscard]] virtual std::optional<Request> next() = 0;
  /// What a user sends because `finished` was answered (or refused) at `now`: closed loops only.
  [[nodiscard]] virtual std::optional<Request> after(const Request& finished, double now) {
    static_cast<void>(finished);
    static_cast<void>(now);
    return std::nullopt;
  }
};

/// How a server that was measured served one request; seconds.
struct ServedRequest {
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::optional<double> ttft;
  std::optional<double> tpot;  ///< Only of more than one output token.
  std::optional<double> latency;
};

}  // namespace mansard::ir
