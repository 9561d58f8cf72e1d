#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/ranks/communicator.hpp"

namespace graphline::samples {

/// Messages between threads of one process.
struct mail {
  explicit mail(std::size_t ranks) : boxes(ranks), silent(ranks) {}

  std::mutex mutex;
  std::vector<std::deque<rank_message>> boxes;  ///< by receiver
  std::vector<bool> silent;                     ///< ranks whose messages are lost
};

class thread_messages : public communicator {
 public:
  thread_messages(mail& by, int rank) : mail_(by) {
    rank_ = rank;
    size_ = static_cast<int>(by.boxes.size());
    local_rank_ = rank;
    local_size_ = size_;
    library_ = "threads";
  }
  void send(int to, message_kind kind, std::string_view text) override {
    const std::scoped_lock lock(mail_.mutex);
    if (mail_.silent[static_cast<std::size_t>(rank_)]) return;
    mail_.boxes[static_cast<std::size_t>(to)].push_back({rank_, kind, std::string(text)});
  }
  std::optional<rank_message> receive() override {
    const std::scoped_lock lock(mail_.mutex);
    auto& own = mail_.boxes[static_cast<std::size_t>(rank_)];
    if (own.empty()) return std::nullopt;
    rank_message first = std::move(own.front());
    own.pop_front();
    return first;
  }
  /// Ends the other ranks as a kill would: they return from `finish`.
  [[noreturn]] void abort(int status) override {
    const std::scoped_lock lock(mail_.mutex);
    for (auto& box : mail_.boxes) box.push_back({0, message_kind::end, ""});
    throw aborted{status};
  }

  struct aborted {
    int status;
  };

 private:
  mail& mail_;
};

}  // namespace graphline::samples
