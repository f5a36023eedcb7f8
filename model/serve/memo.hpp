#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mansard::model::serve {

/// Remembers exact results by key in a fixed number of places, so that memory is bounded: where the
/// few places that a key may take are full, a result makes room for another.
template <typename Value>
class Memo {
 public:
  using Key = std::array<std::uint32_t, 8>;

  explicit Memo(unsigned log2_places) : places_(std::size_t{1} << log2_places) {}

  /// The value of `key`; `compute()` if it is not known. Valid until the next call.
  template <typename Compute>
  const Value& at(const Key& key, Compute compute) {
    const std::size_t first = hash(key);
    for (std::size_t i = 0; i < kWays; ++i) {
      Place& place = places_[(first + i) & (places_.size() - 1)];
      if (!place.used) {
        return fill(place, key, compute);
      }
      if (place.key == key) {
        return place.value;
      }
    }
    return fill(places_[(first + turn_++ % kWays) & (places_.size() - 1)], key, compute);
  }

 private:
  struct Place {
    Key key{};
    bool used = false;
    Value value{};
  };

  static constexpr std::size_t kWays = 8;

  template <typename Compute>
  static const Value& fill(Place& place, const Key& key, Compute compute) {
    place.value = compute();
    place.key = key;
    place.used = true;
    return place.value;
  }

  static std::size_t hash(const Key& key) {
    std::uint64_t h = 0;
    for (const std::uint32_t part : key) {
      h = (h ^ part) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29U;
    }
    return h;
  }

  std::vector<Place> places_;
  std::size_t turn_ = 0;
};

}  // namespace mansard::model::serve
