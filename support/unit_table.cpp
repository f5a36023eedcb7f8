#include "support/unit_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace mansard {
namespace {

struct Symbol {
  std::string_view text;
  Dimension dimension;
  PrefixRange prefixes = PrefixRange::kNone;
  bool binary_prefixes = false;
  int exponent10 = 0;
  long double factor = 1;
};

constexpr Dimension kUsd{.usd = 1};
constexpr long double kSecondsPerHour = 3600;
constexpr long double kBytesPerBit = 0.125;

constexpr std::array<Symbol, 16> kSymbols = {{
    {.text = "FLOP", .dimension = kFlop, .prefixes = PrefixRange::kLarge},
    {.text = "OP", .dimension = kFlop, .prefixes = PrefixRange::kLarge},
    {.text = "B", .dimension = kByte, .prefixes = PrefixRange::kLarge, .binary_prefixes = true},
    {.text = "bit", .dimension = kByte, .prefixes = PrefixRange::kLarge, .factor = kBytesPerBit},
    {.text = "bps",
     .dimension = kBytePerSecond,
     .prefixes = PrefixRange::kLarge,
     .factor = kBytesPerBit},
    {.text = "s", .dimension = kSecond, .prefixes = PrefixRange::kSmall},
    {.text = "min", .dimension = kSecond, .factor = 60},
    {.text = "h", .dimension = kSecond, .factor = kSecondsPerHour},
    {.text = "clk", .dimension = kCycle, .prefixes = PrefixRange::kLarge},
    {.text = "Hz", .dimension = kHertz, .prefixes = PrefixRange::kLarge},
    {.text = "W", .dimension = kWatt, .prefixes = PrefixRange::kBoth},
    {.text = "J", .dimension = kJoule, .prefixes = PrefixRange::kBoth},
    {.text = "Wh", .dimension = kJoule, .prefixes = PrefixRange::kLarge, .factor = kSecondsPerHour},
    {.text = "inst", .dimension = kInstruction, .prefixes = PrefixRange::kLarge},
    {.text = "USD", .dimension = kUsd},
    {.text = "%", .dimension = kNumber, .exponent10 = -2},
}};

struct Prefix {
  std::string_view text;
  int exponent10 = 0;
  int exponent2 = 0;
};

constexpr std::array<Prefix, 10> kDecimalPrefixes = {{
    {.text = "p", .exponent10 = -12},
    {.text = "n", .exponent10 = -9},
    {.text = "u", .exponent10 = -6},
    {.text = "m", .exponent10 = -3},
    {.text = "k", .exponent10 = 3},
    {.text = "M", .exponent10 = 6},
    {.text = "G", .exponent10 = 9},
    {.text = "T", .exponent10 = 12},
    {.text = "P", .exponent10 = 15},
    {.text = "E", .exponent10 = 18},
}};

constexpr std::array<Prefix, 6> kBinaryPrefixes = {{
    {.text = "Ki", .exponent2 = 10},
    {.text = "Mi", .exponent2 = 20},
    {.text = "Gi", .exponent2 = 30},
    {.text = "Ti", .exponent2 = 40},
    {.text = "Pi", .exponent2 = 50},
    {.text = "Ei", .exponent2 = 60},
}};

bool takes(const Symbol& symbol, const Prefix& prefix) {
  if (prefix.exponent2 != 0) {
    return symbol.binary_prefixes;
  }
  const PrefixRange sign = prefix.exponent10 > 0 ? PrefixRange::kLarge : PrefixRange::kSmall;
  return symbol.prefixes == PrefixRange::kBoth || symbol.prefixes == sign;
}

/// A symbol with a prefix or, if that is null, without.
struct Word {
  const Prefix* prefix = nullptr;
  const Symbol* symbol = nullptr;

  [[nodiscard]] std::string text() const {
    return fmt::format("{}{}", prefix == nullptr ? "" : prefix->text, symbol->text);
  }
  [[nodiscard]] UnitScale scale() const {
    UnitScale result{symbol->dimension, symbol->exponent10, symbol->factor};
    if (prefix != nullptr) {
      result.exponent10 += prefix->exponent10;
      result.factor *= static_cast<long double>(std::uint64_t{1} << prefix->exponent2);
    }
    return result;
  }
};

std::vector<Word> all_words() {
  std::vector<Word> words;
  const auto add = [&words](const Symbol& symbol, const auto& prefixes) {
    for (const Prefix& prefix : prefixes) {
      if (takes(symbol, prefix)) {
        words.push_back({&prefix, &symbol});
      }
    }
  };
  for (const Symbol& symbol : kSymbols) {
    words.push_back({nullptr, &symbol});
    add(symbol, kDecimalPrefixes);
    add(symbol, kBinaryPrefixes);
  }
  return words;
}

struct Habit {
  std::string_view written;
  std::string_view meant;
};

constexpr std::array<Habit, 19> kHabits = {{
    {"KB", "kB (1000) or KiB (1024)"},
    {"byte", "B"},
    {"bytes", "B"},
    {"bits", "bit"},
    {"b", "B (byte) or bit"},
    {"sec", "s"},
    {"secs", "s"},
    {"second", "s"},
    {"seconds", "s"},
    {"hr", "h"},
    {"hour", "h"},
    {"hours", "h"},
    {"cycle", "clk"},
    {"cycles", "clk"},
    {"clock", "clk"},
    {"clocks", "clk"},
    {"cyc", "clk"},
    {"$", "USD"},
    {"dollars", "USD"},
}};

/// "TFLOPS", "TFLOPs" and "TOPS" are read by some as an amount and by some as a rate.
std::string hint_for_plural(std::string_view symbol) {
  const bool plural = symbol.ends_with("FLOPS") || symbol.ends_with("FLOPs") ||
                      symbol.ends_with("OPS") || symbol.ends_with("OPs");
  const std::string_view singular = symbol.substr(0, symbol.empty() ? 0 : symbol.size() - 1);
  return plural && find_unit(singular) ? fmt::format("write {}/s", singular) : "";
}

/// "GBps" and "GBPS".
std::string hint_for_per_second(std::string_view symbol) {
  if (!symbol.ends_with("ps") && !symbol.ends_with("PS")) {
    return "";
  }
  const std::string_view amount = symbol.substr(0, symbol.size() - 2);
  return find_unit(amount) ? fmt::format("write {}/s", amount) : "";
}

/// "Gb" is a gigabit to some and a slip for gigabyte to others.
std::string hint_for_bits(std::string_view symbol) {
  if (symbol.size() < 2 || !symbol.ends_with('b')) {
    return "";
  }
  const std::string_view prefix = symbol.substr(0, symbol.size() - 1);
  const bool known = find_unit(std::string(prefix) + "bit").has_value();
  return known ? fmt::format("write {0}B (bytes) or {0}bit (bits)", prefix) : "";
}

constexpr std::array<UnitStyle, 24> kStyles = {{
    {kNumber, "", PrefixRange::kNone, "a plain number", ""},
    {kFlop, "FLOP", PrefixRange::kLarge, "an amount of work", "GFLOP"},
    {kByte, "B", PrefixRange::kLarge, "an amount of data", "GB"},
    {kSecond, "s", PrefixRange::kSmall, "a time", "us"},
    {kJoule, "J", PrefixRange::kBoth, "an energy", "J"},
    {kInstruction, "inst", PrefixRange::kLarge, "a number of instructions", "inst"},
    {kCycle, "clk", PrefixRange::kLarge, "a number of clock cycles", "clk"},
    {kUsd, "USD", PrefixRange::kNone, "an amount of money", "USD"},
    {kFlopPerSecond, "FLOP/s", PrefixRange::kLarge, "a rate of work", "TFLOP/s"},
    {kBytePerSecond, "B/s", PrefixRange::kLarge, "a bandwidth", "GB/s"},
    {kInstructionPerSecond, "inst/s", PrefixRange::kLarge, "an instruction rate", "Ginst/s"},
    {kHertz, "Hz", PrefixRange::kLarge, "a frequency", "MHz"},
    {kWatt, "W", PrefixRange::kBoth, "a power", "W"},
    {kUsdPerSecond, "USD/h", PrefixRange::kNone, "a price per time", "USD/h", kSecondsPerHour},
    {kFlop - kByte, "FLOP/B", PrefixRange::kNone, "an arithmetic intensity", "FLOP/B"},
    {kByte - kFlop, "B/FLOP", PrefixRange::kNone, "a number of bytes per FLOP", "B/FLOP"},
    {kBytePerCycle, "B/clk", PrefixRange::kNone, "a bandwidth per clock", "B/clk"},
    {kFlop - kCycle, "FLOP/clk", PrefixRange::kNone, "a rate of work per clock", "FLOP/clk"},
    {kInstruction - kCycle, "inst/clk", PrefixRange::kNone, "an instruction rate per clock",
     "inst/clk"},
    {kNumber - kCycle, "/clk", PrefixRange::kNone, "a rate per clock", "1/clk"},
    {kNumber - kSecond, "/s", PrefixRange::kNone, "a rate", "1/s"},
    {kJoule - kFlop, "J/FLOP", PrefixRange::kBoth, "an energy per FLOP", "pJ/FLOP"},
    {kJoule - kByte, "J/B", PrefixRange::kBoth, "an energy per byte", "pJ/B"},
    {kJoule - kInstruction, "J/inst", PrefixRange::kBoth, "an energy per instruction", "pJ/inst"},
}};

}  // namespace

std::optional<UnitScale> find_unit(std::string_view symbol) {
  static const std::vector<Word> words = all_words();
  for (const Word& word : words) {
    const std::string_view prefix = word.prefix == nullptr ? "" : word.prefix->text;
    if (symbol.size() == prefix.size() + word.symbol->text.size() && symbol.starts_with(prefix) &&
        symbol.ends_with(word.symbol->text)) {
      return word.scale();
    }
  }
  return std::nullopt;
}

const std::vector<std::string>& unit_symbols() {
  static const std::vector<std::string> symbols = [] {
    std::vector<std::string> texts;
    for (const Word& word : all_words()) {
      texts.push_back(word.text());
    }
    return texts;
  }();
  return symbols;
}

std::string unit_hint(std::string_view symbol) {
  for (const Habit& habit : kHabits) {
    if (habit.written == symbol) {
      return fmt::format("write {}", habit.meant);
    }
  }
  for (auto* hint : {&hint_for_plural, &hint_for_per_second, &hint_for_bits}) {
    if (std::string text = (*hint)(symbol); !text.empty()) {
      return text;
    }
  }
  return "";
}

const UnitStyle* find_style(const Dimension& dimension) {
  const auto* style = std::ranges::find(kStyles, dimension, &UnitStyle::dimension);
  return style == kStyles.end() ? nullptr : style;
}

std::string_view decimal_prefix(int exponent10) {
  for (const Prefix& prefix : kDecimalPrefixes) {
    if (prefix.exponent10 == exponent10) {
      return prefix.text;
    }
  }
  return "";
}

}  // namespace mansard
