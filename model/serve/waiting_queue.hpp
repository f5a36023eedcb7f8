#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "model/serve/engine_settings.hpp"

namespace mansard::model::serve {

/// Sequences that wait for admission, by their slots, in the order that the settings say.
class WaitingQueue {
 public:
  using Slot = std::uint32_t;

  /// What orders a sequence.
  struct Rank {
    std::int32_t priority = 0;
    std::uint32_t input_tokens = 0;
    std::uint32_t user = 0;
    std::uint64_t turn = 0;  ///< Counts arrivals.
  };

  explicit WaitingQueue(QueueOrder order) : order_(order) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Slot front() const;
  void pop();
  void push(Slot slot, const Rank& rank);
  /// One that ran before comes before those of its rank (first of all where there are no ranks).
  void push_front(Slot slot, const Rank& rank);
  void erase(Slot slot, const Rank& rank);
  /// Tokens computed for a user, whom fairness then lets wait.
  void charge(std::uint32_t user, std::uint64_t tokens);

 private:
  struct User {
    std::uint64_t served = 0;
    std::deque<Slot> slots;
  };
  using Key = std::tuple<std::int64_t, std::uint64_t, Slot>;

  [[nodiscard]] Key key(Slot slot, const Rank& rank) const;
  [[nodiscard]] User& user_of(const Rank& rank);

  QueueOrder order_;
  std::size_t size_ = 0;
  std::deque<Slot> line_;                                        ///< kFcfs.
  std::set<Key> ranked_;                                         ///< kPriority, kShortest.
  std::unordered_map<std::uint32_t, User> users_;                ///< kFair.
  std::set<std::pair<std::uint64_t, std::uint32_t>> by_served_;  ///< Users who wait.
};

}  // namespace mansard::model::serve
