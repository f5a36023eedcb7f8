#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hardware/machine.hpp"
#include "ir/expr_eval.hpp"
#include "ir/kernel_class.hpp"
#include "ir/timeline.hpp"
#include "model/cost_model.hpp"
#include "model/project/replay.hpp"

/// Communication kernels on the links of a machine.
namespace mansard::cli {

/// What a communication kernel moves.
struct Message {
  std::string kind;   ///< Kind of op: "all_reduce".
  std::string dtype;  ///< "bf16".
  double bytes = 0;   ///< Of the full message (all_gather: of the gathered result).
  double devices = 0;
};

/// From what the profiler says of the collective, else from the shapes and types of the op that
/// launched it and the size of the job. nullopt: that does not tell bytes and devices.
[[nodiscard]] std::optional<Message> message_of(const ir::Activity& activity,
                                                const ir::KernelClass& kernel,
                                                std::int64_t world_size);

/// The link of a machine that joins so many devices, by tier: NVLink or XGMI where it reaches that
/// far, else the network, else PCIe; "" if the machine names none.
[[nodiscard]] std::string link_of(const hardware::Machine& machine, double devices);

/// Times of messages by NCCL's protocols (model/estimate/collective.cpp): a start and steps of
/// latency, and bytes over the bandwidth of the link.
class MessageModels {
 public:
  MessageModels(const hardware::Machine& machine, const model::Calibration& calibration)
      : machine_(machine), calibration_(calibration) {}

  struct Time {
    model::ModelTimes times;
    std::string link;
  };
  /// nullopt: the machine has no link, or its bandwidth is not known.
  [[nodiscard]] std::optional<Time> time(const Message& message);

 private:
  const hardware::Machine& machine_;
  const model::Calibration& calibration_;
  /// By kind, type and tier.
  std::map<std::string, std::optional<model::CostModel>> models_;
};

}  // namespace mansard::cli
