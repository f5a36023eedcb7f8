#pragma once

#include <memory>
#include <string_view>

#include "traces/requests/row.hpp"

/// The functions that formats.def names. Internal to traces/requests.
namespace mansard::traces::requests {

bool is_azure(std::string_view first);
bool is_burstgpt(std::string_view first);
bool is_csv(std::string_view first);
std::unique_ptr<RowParser> csv_parser(std::string_view first);

bool is_mooncake(std::string_view first);
std::unique_ptr<RowParser> mooncake_parser(std::string_view first);
bool is_vllm(std::string_view first);
std::unique_ptr<RowParser> vllm_parser(std::string_view first);
bool is_servingsim(std::string_view first);
std::unique_ptr<RowParser> servingsim_parser(std::string_view first);
bool is_sharegpt(std::string_view first);
std::unique_ptr<RowParser> sharegpt_parser(std::string_view first);

}  // namespace mansard::traces::requests
