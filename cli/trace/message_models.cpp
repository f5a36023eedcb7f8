#include "cli/trace/message_models.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/trace/activity_shapes.hpp"
#include "cli/views/json.hpp"
#include "ir/dtype.hpp"
#include "validate/single_op.hpp"

namespace mansard::cli {
namespace {

struct Collective {
  std::string_view name;  ///< As PyTorch's process groups call it.
  std::string_view kind;
};
constexpr Collective kCollectives[] = {{"allreduce", "all_reduce"},
                                       {"all_reduce", "all_reduce"},
                                       {"allgather", "all_gather"},
                                       {"all_gather", "all_gather"},
                                       {"reduce_scatter", "reduce_scatter"},
                                       {"all_to_all", "all_to_all"},
                                       {"alltoall", "all_to_all"},
                                       {"broadcast", "send_recv"},
                                       {"send", "send_recv"},
                                       {"recv", "send_recv"},
                                       {"reduce", "reduce_scatter"},
                                       {"gather", "all_gather"},
                                       {"scatter", "send_recv"}};

std::string kind_of(std::string_view name, const ir::KernelClass& kernel) {
  for (const Collective& c : kCollectives) {
    if (name.find(c.name) != std::string_view::npos) {
      return std::string(c.kind);
    }
  }
  for (const char* kind :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"}) {
    if (kernel.is(kind)) {
      return kind;
    }
  }
  return "";
}

double member(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

std::optional<Message> message_of(const ir::Activity& activity, const ir::KernelClass& kernel,
                                  std::int64_t world_size) {
  const Json told = Json::parse(activity.collective, nullptr, false);
  const bool is_told = told.is_object();
  const auto name = is_told ? told.find("Collective name") : told.end();
  Message message{.kind = kind_of(is_told && name != told.end() && name->is_string()
                                      ? name->get<std::string>()
                                      : "",
                                  kernel)};
  if (message.kind.empty()) {
    return std::nullopt;
  }
  std::string types = activity.dtypes;
  double elements = 0;
  if (is_told) {
    const auto type = told.find("dtype");
    types = type != told.end() && type->is_string() ? type->get<std::string>() : types;
    elements = std::max(member(told, "In msg nelems"), member(told, "Out msg nelems"));
    message.devices = member(told, "Group size");
  }
  if (elements == 0) {
    for (const Shape& shape : shapes_of(activity.shapes)) {
      elements = std::max(elements, product(shape, 0, shape.size()));
    }
  }
  if (message.devices == 0) {
    message.devices = static_cast<double>(world_size);
  }
  message.dtype = torch_dtype(types).value_or("fp32");
  const ir::Dtype* dtype = ir::find_dtype(message.dtype);
  message.bytes = elements * (dtype == nullptr ? 4 : dtype->bits / 8.0);
  const bool whole = message.bytes > 0 && message.devices >= 2;
  return whole ? std::optional(message) : std::nullopt;
}

std::string link_of(const hardware::Machine& machine, double devices) {
  for (const char* tier : {"nvlink", "xgmi"}) {
    const bool reaches =
        devices <= machine.known(fmt::format("{}.devices", tier)).value_or(devices);
    if (machine.known(fmt::format("{}.bandwidth", tier)) && reaches) {
      return tier;
    }
  }
  // A board of eight or fewer without links of its own goes over PCIe.
  constexpr double kBoard = 8;
  const bool network = machine.known("network.bandwidth").has_value();
  const bool host = machine.known("host.bandwidth").has_value();
  if (host && (devices <= kBoard || !network)) {
    return "host";
  }
  return network ? "network" : "";
}

std::optional<MessageModels::Time> MessageModels::time(const Message& message) {
  const std::string link = link_of(machine_, message.devices);
  if (link.empty()) {
    return std::nullopt;
  }
  const std::string key = fmt::format("{}/{}/{}", message.kind, message.dtype, link);
  const auto [found, fresh] = models_.try_emplace(key);
  if (fresh) {
    ir::Measurement row{.implementation = "nccl", .op = message.kind, .dtype = message.dtype};
    validate::GraphMaker maker(row);
    const ir::Expr elements = maker.column("bytes") * (8 / maker.dtype().bits);
    maker.op(message.kind, {{"n", elements}, {"p", maker.column("gpus")}}).attribute("tier", link);
    auto cost = model::build_cost_model(
        maker.take(), machine_, calibration_,
        {.mode = model::Mode::kKernel, .implementation = "nccl", .chained = false});
    found->second = cost ? std::optional(std::move(*cost)) : std::nullopt;
  }
  if (!found->second) {
    return std::nullopt;
  }
  const model::CostModel& cost = *found->second;
  const ir::Bindings at = cost.bindings({{"bytes", message.bytes}, {"gpus", message.devices}});
  const Time result{{.bound = ir::value(cost.bound.expr(), at),
                     .low = ir::value(cost.low.expr(), at),
                     .estimate = ir::value(cost.estimate.expr(), at),
                     .high = ir::value(cost.high.expr(), at)},
                    link};
  return result.times.estimate > 0 ? std::optional(result) : std::nullopt;
}

}  // namespace mansard::cli
