#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mansard::model::serve {

/// Remembers exact results by key in a fixed number of places, so that memory is bounded: a result
/// makes room for another whose key falls on the same place.
template <typename Value>
class Memo {
 public:
  using Key = std::array<std::uint32_t, 8>;

  explicit Memo(std::size_t log2_places) : places_(std::size_t{1} << log2_places) {}

  /// The value of `key`; `compute()` if it is not known.
  template <typename Compute>
  const Value& at(const Key& key, Compute compute) {
    Place& place = places_[hash(key) & (places_.size() - 1)];
    if (!place.used || place.key != key) {
      place.value = compute();
      place.key = key;
      place.used = true;
    }
    return place.value;
  }

 private:
  struct Place {
    Key key{};
    bool used = false;
    Value value{};
  };

  static std::size_t hash(const Key& key) {
    std::uint64_t h = 0;
    for (const std::uint32_t part : key) {
      h = (h ^ part) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29U;
    }
    return h;
  }

  std::vector<Place> places_;
};

}  // namespace mansard::model::serve
