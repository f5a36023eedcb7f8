#include "ir/kernel_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace mansard::ir {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct Named {
  std::string_view part;
  std::string_view dtype;
};

/// The first part that occurs holds.
constexpr std::array kTypes{
    Named{"e4m3", "fp8"},   Named{"e5m2", "fp8"},      Named{"fp8", "fp8"},
    Named{"float8", "fp8"}, Named{"nvfp4", "nvfp4"},   Named{"e2m1", "nvfp4"},
    Named{"bf16", "bf16"},  Named{"bfloat16", "bf16"}, Named{"tf32", "tf32"},
    Named{"s1688", "tf32"}, Named{"i16832", "int8"},   Named{"i8816", "int8"},
    Named{"imma", "int8"},  Named{"i8i8", "int8"},     Named{"_s8_", "int8"},
    Named{"int8", "int8"},  Named{"s16816", "fp16"},   Named{"h16816", "fp16"},
    Named{"h1688", "fp16"}, Named{"h884", "fp16"},     Named{"s884", "fp16"},
    Named{"hgemm", "fp16"}, Named{"fp16", "fp16"},     Named{"f16", "fp16"},
    Named{"half", "fp16"},  Named{"d884", "fp64"},     Named{"dgemm", "fp64"},
    Named{"fp64", "fp64"},  Named{"f64", "fp64"},      Named{"double", "fp64"},
    Named{"sgemm", "fp32"}, Named{"scudnn", "fp32"},   Named{"fp32", "fp32"},
    Named{"f32", "fp32"},   Named{"float", "fp32"}};

/// "nvjet_sm90_tst_...", "nvjet_qqtst_...": one letter for A (and B where they differ), accumulator
/// and outputs.
std::string_view nvjet_dtype(std::string_view name) {
  constexpr std::string_view kFirst = "nvjet_";
  name.remove_prefix(kFirst.size());
  if (name.starts_with("sm")) {
    name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  }
  switch (name.empty() ? ' ' : name.front()) {
    case 't':
      return "bf16";
    case 'h':
      return "fp16";
    case 'q':
      return "fp8";
    case 'o':
      return "nvfp4";
    case 's':
      return "tf32";
    case 'd':
      return "fp64";
    default:
      return "";
  }
}

/// "cijk_ailk_bljk_bbs_bh_...": the third part names A, the output and the accumulator.
std::string_view tensile_dtype(std::string_view name) {
  std::size_t at = name.find("cijk_");
  for (int part = 0; part < 3 && at != std::string_view::npos; ++part) {
    at = name.find('_', at + 1);
  }
  if (at == std::string_view::npos) {
    return "";
  }
  const std::string_view types = name.substr(at + 1);
  if (types.starts_with("f8") || types.starts_with("b8")) {
    return "fp8";
  }
  if (types.starts_with("i8")) {
    return "int8";
  }
  switch (types.empty() ? ' ' : types.front()) {
    case 'b':
      return "bf16";
    case 'h':
      return "fp16";
    case 's':
      return "fp32";
    case 'x':
      return "tf32";
    case 'd':
      return "fp64";
    default:
      return "";
  }
}

/// Numbers with an x between each two, from `at` on: "128x256x32".
struct Numbers {
  std::array<int, 4> values{};
  std::size_t count = 0;
  std::size_t end = 0;
};
Numbers numbers_at(std::string_view name, std::size_t at) {
  Numbers result;
  const char* const last = name.data() + name.size();
  while (at < name.size() && result.count < result.values.size()) {
    const auto parsed = std::from_chars(name.data() + at, last, result.values[result.count]);
    if (parsed.ec != std::errc()) {
      break;
    }
    ++result.count;
    at = result.end = static_cast<std::size_t>(parsed.ptr - name.data());
    if (parsed.ptr == last || *parsed.ptr != 'x') {
      break;
    }
    ++at;
  }
  return result;
}

/// "tilesize128x64x32_stage4" and "mt128x64x32".
std::optional<KernelTile> named_tile(std::string_view name) {
  for (const std::string_view word : {"tilesize", "_mt"}) {
    const std::size_t at = name.find(word);
    if (at == std::string_view::npos) {
      continue;
    }
    const Numbers n = numbers_at(name, at + word.size());
    if (n.count < 3) {
      continue;
    }
    KernelTile tile{.m = n.values[0], .n = n.values[1], .k = n.values[2]};
    if (name.substr(n.end).starts_with("_stage")) {
      tile.stages = numbers_at(name, n.end + std::string_view("_stage").size()).values[0];
    }
    return tile;
  }
  return std::nullopt;
}

/// The first two numbers behind an underscore, and the two after them: "_128x8_64x12_".
std::optional<KernelTile> plain_tile(std::string_view name) {
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    const Numbers n = numbers_at(name, at + 1);
    if (n.count < 2) {
      continue;
    }
    KernelTile tile{.m = n.values[0], .n = n.values[1]};
    if (n.end < name.size() && name[n.end] == '_') {
      const Numbers next = numbers_at(name, n.end + 1);
      if (next.count == 2) {
        tile.k = next.values[0];
        tile.stages = next.values[1];
      }
    }
    return tile;
  }
  return std::nullopt;
}

}  // namespace

std::string kernel_dtype(std::string_view name) {
  if (const std::size_t at = name.find("nvjet_"); at != std::string_view::npos) {
    return std::string(nvjet_dtype(name.substr(at)));
  }
  if (contains(name, "cijk_")) {
    return std::string(tensile_dtype(name));
  }
  for (const Named& type : kTypes) {
    if (contains(name, type.part)) {
      return std::string(type.dtype);
    }
  }
  return "";
}

KernelTile kernel_tile(std::string_view name) {
  KernelTile tile;
  if (contains(name, "gemv")) {
    tile.m = tile.n = 1;
  } else if (const auto named = named_tile(name)) {
    tile = *named;
  } else if (const auto plain = plain_tile(name)) {
    tile = *plain;
  }
  tile.split_k = contains(name, "splitk") || contains(name, "split_k") || contains(name, "streamk");
  return tile;
}

}  // namespace mansard::ir
