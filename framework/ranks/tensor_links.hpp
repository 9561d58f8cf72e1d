#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/base/words.hpp"
#include "framework/ranks/communicator.hpp"

namespace graphline {

/// A tensor that this rank sends to, or receives from, another rank in every frame.
struct tensor_link {
  bool sends = false;
  int peer = 0;
  int channel = 0;        ///< unique in the job
  std::size_t bytes = 0;  ///< may be 0, for a signal
};

/// Carries the tensors of frames between ranks, in the order of the frames. Tensors pass through
/// buffers on both sides, so a sender can be ahead of its receiver by as many frames as both have
/// buffers; then it waits.
///
/// A thread starts and ends transfers. With `wait: spin` it polls without a pause, with `yield` it
/// yields its core between polls, and with `block` it sleeps for about 20 us.
class tensor_links {
 public:
  /// Largest number of bytes of a tensor: MPI counts in 31 bits.
  static constexpr std::size_t most_bytes = 0x7fffffff;

  /// @param depth Buffers of a link on this side, at least 1.
  /// @param stop Ends all waits when it is raised.
  /// @throws run_error if the thread cannot be started
  tensor_links(communicator& messages, const std::vector<tensor_link>& links, std::size_t depth,
               wait_mode how, const stop_request& stop);

  /// Waits a second at most for what was sent to leave.
  ~tensor_links();
  tensor_links(const tensor_links&) = delete;
  tensor_links& operator=(const tensor_links&) = delete;

  /// Sends a tensor. Returns when it is copied.
  /// @throws interrupted_error if canceled; run_error if the transport failed
  void send(std::size_t link, std::span<const std::byte> bytes);

  /// Waits for the next tensor and copies it.
  /// @throws as `send`
  void receive(std::size_t link, std::span<std::byte> bytes);

  /// Waits until `receive` will not wait.
  void await(std::size_t link);

  /// Returns true if `receive` will not wait. Otherwise calls `then` once that is so, on the thread
  /// of this object.
  bool has_arrived(std::size_t link, const std::function<void()>& then);

  /// Ends all waits, now and later.
  void cancel() noexcept { cancel_.raise(); }

 private:
  struct buffer {
    std::vector<std::byte> bytes;
    data_transfer transfer;
  };
  /// A ring: the buffers from `ended` up to `started` are in transit. A sender fills buffer
  /// `filled`; a receiver empties buffer `emptied`.
  struct ring {
    tensor_link link;
    std::vector<buffer> buffers;
    std::uint64_t filled = 0;   ///< by the sending stage, or all that may be received
    std::uint64_t started = 0;  ///< transfers
    std::uint64_t ended = 0;    ///< transfers
    std::uint64_t emptied = 0;  ///< by the receiving stage
    std::function<void()> then;

    buffer& at(std::uint64_t number) { return buffers[number % buffers.size()]; }
  };

  void serve();
  bool advance(ring& of);
  void pause() const;
  bool is_ready(const ring& of) const { return of.ended > of.emptied || canceled_; }
  void throw_if_canceled() const;

  communicator& messages_;
  wait_mode how_;
  stop_request cancel_;
  std::mutex mutex_;  ///< protects all below
  std::condition_variable changed_;
  std::vector<ring> rings_;
  bool canceled_ = false;
  std::exception_ptr problem_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace graphline
