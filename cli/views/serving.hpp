#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/serve/server.hpp"

/// Views of simulated services: one struct in, text out.
namespace mansard::cli {

/// One service: settings, latencies, use and cost. Several: a row each.
[[nodiscard]] std::string serving_table(std::span<const ServeAnswer> answers);
/// `mansard.serving/1`; a list if there are several.
[[nodiscard]] std::string serving_json(std::span<const ServeAnswer> answers);
/// One line a service.
[[nodiscard]] std::string serving_csv(std::span<const ServeAnswer> answers);

/// The header and the lines of a table of requests, one each; times in seconds.
[[nodiscard]] std::string served_header();
[[nodiscard]] std::string served_line(const model::serve::Served& served);
[[nodiscard]] std::string rejected_line(const ir::Request& request, std::string_view reason);

/// An event as a line of JSON, or as one of a Chrome trace (microseconds; replicas are processes).
[[nodiscard]] std::string event_line(const model::serve::Event& event);
[[nodiscard]] std::string event_chrome(const model::serve::Event& event);

/// Batch, queue, KV occupancy and binding resources over time, as SVG.
[[nodiscard]] std::string timeline_svg(const ServeAnswer& answer);
/// Latencies over the rate of requests, one point a service, as SVG.
[[nodiscard]] std::string rate_svg(std::span<const ServeAnswer> answers);

/// What answers are worth; shared by the views. Absent where the price is not known or none were
/// served.
struct ServingCost {
  std::optional<double> usd_per_million_output;  ///< All dollars over the output tokens.
  /// The dollars of prompts over the prompt tokens computed; those of generation over the output.
  std::optional<double> usd_per_million_input_share;
  std::optional<double> usd_per_million_cached_share;
  std::optional<double> usd_per_million_output_share;
};
[[nodiscard]] ServingCost serving_cost(const model::serve::ServiceReport& report);

}  // namespace mansard::cli
