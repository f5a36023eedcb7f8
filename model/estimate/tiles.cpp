#include "model/estimate/tiles.hpp"

#include <algorithm>
#include <charconv>
#include <span>

namespace mansard::model::estimators {
namespace {

constexpr int kAny = 1 << 30;  ///< No limit of a tile's area.
constexpr int kHopper = 9;     ///< Major compute capabilities.
constexpr int kBlackwell = 10;
constexpr std::size_t kTileM = 1;  ///< Column.

struct Tile {
  int n;
  int m;
  int rows = 0;  ///< Operand rows; 0: n + m.
};

constexpr Tile kSm90[] = {
    {64, 8},    {64, 16},   {64, 32},   {64, 48},   {64, 64},   {128, 8},  {128, 16}, {128, 32},
    {128, 64},  {128, 80},  {128, 128}, {128, 160}, {128, 192}, {192, 16}, {192, 32}, {192, 64},
    {192, 128}, {192, 176}, {192, 192}, {256, 8},   {256, 16},  {256, 32}, {256, 64}, {256, 128},
    {256, 160}, {320, 64},  {320, 128}, {384, 8},   {384, 16},  {384, 32}, {448, 64}, {512, 8},
    {512, 16},  {512, 32},  {512, 64},  {8, 64},    {16, 64},   {24, 64},  {32, 64},  {40, 64},
    {48, 64},   {72, 64},   {80, 64},   {96, 64},   {112, 64},  {144, 64}, {80, 128}, {96, 128},
    {112, 128}, {144, 128}, {168, 128}, {176, 128}};
constexpr Tile kSm100[] = {{128, 16, 136},  {128, 32, 144},  {128, 64, 160},  {128, 96, 176},
                           {128, 128, 192}, {128, 160, 208}, {128, 192, 224}, {128, 224, 240},
                           {128, 256, 256}, {16, 128, 136},  {32, 128, 144},  {64, 128, 160},
                           {96, 128, 176},  {160, 128, 208}, {192, 128, 224}, {224, 128, 240},
                           {256, 128, 256}, {128, 8},        {64, 8},         {64, 16},
                           {64, 32},        {64, 64}};
constexpr Tile kMma[] = {{64, 64},  {128, 64},  {64, 128},  {128, 128}, {256, 64},
                         {64, 256}, {256, 128}, {128, 256}, {64, 32},   {128, 32}};
constexpr Tile kUnaligned[] = {{64, 64},  {128, 64}, {64, 128},  {128, 128},
                               {256, 64}, {64, 256}, {256, 128}, {128, 256}};
constexpr Tile kSimt[] = {{32, 32}, {64, 64}, {128, 64}, {64, 128}, {128, 128}};
constexpr Tile kOldSimt[] = {{32, 32}, {32, 64},  {64, 32},  {32, 128}, {128, 32},
                             {64, 64}, {128, 64}, {64, 128}, {128, 128}};

/// Narrow types accumulate in twice the registers, which leaves room for smaller tiles only.
constexpr int kNarrowTile = 20480;

int major_capability(const hardware::Machine& machine) {
  int major = 0;
  const std::string& text = machine.compute_capability;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major;
}

const ir::Table& table_of(ir::ExprPool& pool, std::string_view name, std::span<const Tile> tiles,
                          int largest) {
  std::vector<double> values;
  for (const double splits : {0.0, 1.0}) {
    for (const Tile& tile : tiles) {
      if (tile.n * tile.m <= largest) {
        const int rows = tile.rows > 0 ? tile.rows : tile.n + tile.m;
        values.insert(values.end(), {static_cast<double>(tile.n), static_cast<double>(tile.m),
                                     static_cast<double>(rows), splits});
      }
    }
  }
  return pool.add_table(std::string(name), {"tile_n", "tile_m", "operand_rows", "splits"},
                        std::move(values));
}

/// Types whose accumulators take twice the registers on sm_90.
bool is_narrow(std::string_view type) {
  return type.starts_with("fp8") || type.starts_with("fp4") || type.starts_with("fp6") ||
         type.starts_with("nvfp4") || type.starts_with("mxfp");
}

}  // namespace

const ir::Table& tile_table(const OpContext& context, const KernelKind& kind) {
  ir::ExprPool& pool = context.pool();
  const int major = major_capability(context.capacities.machine());
  if (kind.rate.field.starts_with("vector")) {
    return major >= kHopper ? table_of(pool, "tiles.simt", kSimt, kAny)
                            : table_of(pool, "tiles.old_simt", kOldSimt, kAny);
  }
  const std::string_view type = context.arithmetic();
  const bool half = type == "bf16" || type == "fp16";
  if (half && kind.alignment != Alignment::k16) {
    return table_of(pool, "tiles.unaligned", kUnaligned, kAny);
  }
  if (major >= kBlackwell && (half || is_narrow(type))) {
    return table_of(pool, "tiles.sm100", kSm100, kAny);
  }
  if (major >= kHopper && is_narrow(type)) {
    return table_of(pool, "tiles.sm90_narrow", kSm90, kNarrowTile);
  }
  return major >= kHopper && half ? table_of(pool, "tiles.sm90", kSm90, kAny)
                                  : table_of(pool, "tiles.mma", kMma, kAny);
}

double least_tile_m(const ir::Table& table) {
  double least = table.row(0)[kTileM];
  for (std::size_t r = 1; r < table.rows(); ++r) {
    least = std::min(least, table.row(r)[kTileM]);
  }
  return least;
}

}  // namespace mansard::model::estimators
