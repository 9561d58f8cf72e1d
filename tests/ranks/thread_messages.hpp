#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/ranks/communicator.hpp"

namespace graphline::samples {

/// Messages between threads of one process.
struct mail {
  explicit mail(std::size_t ranks) : boxes(ranks), silent(ranks) {}

  std::mutex mutex;
  std::vector<std::deque<rank_message>> boxes;  ///< by receiver
  std::vector<bool> silent;                     ///< ranks whose messages are lost

  // Tensors are in transit until they are received.
  using channel = std::tuple<int, int, int>;  ///< sender, receiver, number
  struct parcel {
    std::uintptr_t id;
    std::vector<std::byte> bytes;
  };
  std::uintptr_t transfers = 0;
  std::map<channel, std::deque<parcel>> parcels;
  std::map<std::uintptr_t, std::pair<channel, std::span<std::byte>>> receives;
  std::set<std::uintptr_t> in_transit;
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
  void start_send(int to, int channel, std::span<const std::byte> bytes,
                  data_transfer& transfer) override {
    const std::scoped_lock lock(mail_.mutex);
    transfer.handle = reinterpret_cast<void*>(++mail_.transfers);
    mail_.in_transit.insert(mail_.transfers);
    mail_.parcels[{rank_, to, channel}].push_back({mail_.transfers, {bytes.begin(), bytes.end()}});
  }
  void start_receive(int from, int channel, std::span<std::byte> bytes,
                     data_transfer& transfer) override {
    const std::scoped_lock lock(mail_.mutex);
    transfer.handle = reinterpret_cast<void*>(++mail_.transfers);
    mail_.receives[mail_.transfers] = {{from, rank_, channel}, bytes};
  }
  bool is_done(data_transfer& transfer) override {
    const std::scoped_lock lock(mail_.mutex);
    const auto id = reinterpret_cast<std::uintptr_t>(transfer.handle);
    const auto receive = mail_.receives.find(id);
    if (receive == mail_.receives.end()) return !mail_.in_transit.contains(id);
    const auto& [of, into] = receive->second;
    auto& arrived = mail_.parcels[of];
    if (arrived.empty()) return false;
    if (arrived.front().bytes.size() != into.size()) throw run_error("wrong size");
    std::ranges::copy(arrived.front().bytes, into.begin());
    mail_.in_transit.erase(arrived.front().id);
    arrived.pop_front();
    mail_.receives.erase(receive);
    return true;
  }
  void cancel(data_transfer& transfer) override {
    const std::scoped_lock lock(mail_.mutex);
    mail_.receives.erase(reinterpret_cast<std::uintptr_t>(transfer.handle));
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
