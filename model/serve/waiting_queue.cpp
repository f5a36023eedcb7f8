#include "model/serve/waiting_queue.hpp"

#include <algorithm>
#include <cassert>

namespace mansard::model::serve {

WaitingQueue::Slot WaitingQueue::front() const {
  assert(!empty());
  switch (order_) {
    case QueueOrder::kFcfs:
      return line_.front();
    case QueueOrder::kFair:
      return users_.at(by_served_.begin()->second).slots.front();
    case QueueOrder::kPriority:
    case QueueOrder::kShortest:
      break;
  }
  return std::get<Slot>(*ranked_.begin());
}

void WaitingQueue::pop() {
  --size_;
  switch (order_) {
    case QueueOrder::kFcfs:
      return line_.pop_front();
    case QueueOrder::kPriority:
    case QueueOrder::kShortest:
      ranked_.erase(ranked_.begin());
      return;
    case QueueOrder::kFair:
      break;
  }
  User& user = users_.at(by_served_.begin()->second);
  user.slots.pop_front();
  if (user.slots.empty()) {
    by_served_.erase(by_served_.begin());
  }
}

WaitingQueue::Key WaitingQueue::key(Slot slot, const Rank& rank) const {
  const std::int64_t first = order_ == QueueOrder::kPriority
                                 ? rank.priority
                                 : static_cast<std::int64_t>(rank.input_tokens);
  return {first, rank.turn, slot};
}

WaitingQueue::User& WaitingQueue::user_of(const Rank& rank) {
  User& user = users_[rank.user];
  if (user.slots.empty()) {
    // One who comes back may not claim what others were served meanwhile.
    user.served = std::max(user.served, by_served_.empty() ? 0 : by_served_.begin()->first);
    by_served_.emplace(user.served, rank.user);
  }
  return user;
}

void WaitingQueue::push(Slot slot, const Rank& rank) {
  ++size_;
  if (order_ == QueueOrder::kFcfs) {
    line_.push_back(slot);
  } else if (order_ == QueueOrder::kFair) {
    user_of(rank).slots.push_back(slot);
  } else {
    ranked_.insert(key(slot, rank));
  }
}

void WaitingQueue::push_front(Slot slot, const Rank& rank) {
  ++size_;
  if (order_ == QueueOrder::kFcfs) {
    line_.push_front(slot);
  } else if (order_ == QueueOrder::kFair) {
    user_of(rank).slots.push_front(slot);
  } else {
    ranked_.insert(key(slot, rank));
  }
}

void WaitingQueue::erase(Slot slot, const Rank& rank) {
  --size_;
  if (order_ == QueueOrder::kFcfs) {
    line_.erase(std::ranges::find(line_, slot));
  } else if (order_ == QueueOrder::kFair) {
    User& user = users_.at(rank.user);
    user.slots.erase(std::ranges::find(user.slots, slot));
    if (user.slots.empty()) {
      by_served_.erase({user.served, rank.user});
    }
  } else {
    ranked_.erase(key(slot, rank));
  }
}

void WaitingQueue::charge(std::uint32_t user, std::uint64_t tokens) {
  if (order_ != QueueOrder::kFair) {
    return;
  }
  User& charged = users_[user];
  const bool waits = !charged.slots.empty();
  if (waits) {
    by_served_.erase({charged.served, user});
  }
  charged.served += tokens;
  if (waits) {
    by_served_.emplace(charged.served, user);
  }
}

}  // namespace mansard::model::serve
