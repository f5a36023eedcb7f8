#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/request.hpp"
#include "support/result.hpp"

/// Request traces: a file of a public format in, `ir::Request`s out, one at a time.
///
///     auto reader = open_requests("AzureLLMInferenceTrace_code.csv");
///     while (auto request = (*reader)->next()) { ... }
///     (*reader)->report();   // what was wrong with the file, counted
///
/// `traces/requests/formats.def` lists the formats; each is told by its first line.
namespace mansard::traces::requests {

/// What a reader found. Nothing is dropped silently: every row is a request or is counted here.
struct ReadReport {
  std::string format;
  std::uint64_t rows = 0;  ///< Lines or objects that should have been requests.
  std::uint64_t requests = 0;
  std::uint64_t unreadable = 0;    ///< Rows that are not: see `problems`.
  std::uint64_t failed = 0;        ///< Requests that the traced service says it failed to answer.
  std::uint64_t out_of_order = 0;  ///< Earlier than the row before; sorted within 65,536 rows.
  std::uint64_t too_late = 0;      ///< Out of order by more; taken as arriving with the one before.
  std::uint64_t equal_times = 0;   ///< At the same time as the one before.
  std::uint64_t zero_input = 0;
  std::uint64_t zero_output = 0;
  double greatest_gap = 0;  ///< Seconds between two arrivals: a clock that jumped shows.
  Diagnostics problems;     ///< The first few unreadable rows, as warnings.
};

class RequestReader : public ir::RequestSource {
 public:
  [[nodiscard]] virtual const ReadReport& report() const = 0;
};

/// Opens a trace. Errors: no such file, an unknown format (naming those known), no readable row.
[[nodiscard]] Result<std::unique_ptr<RequestReader>> open_requests(const std::string& path);
/// The same of a text; `name` is what messages call it.
[[nodiscard]] Result<std::unique_ptr<RequestReader>> read_requests(const std::string& name,
                                                                   std::string text);

/// Names of the formats, with what they look like.
struct FormatInfo {
  std::string_view name;
  std::string_view looks_like;
};
[[nodiscard]] std::vector<FormatInfo> formats();

}  // namespace mansard::traces::requests
