#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace graphline {

/// What a message between ranks is about. "Up" is to rank 0, "down" from it.
enum class message_kind {
  hello,     ///< up, the first: what is known of the sender
  prepared,  ///< up: whether the sender is ready to run, or its error
  go,        ///< down: all ranks are prepared, or an exit status
  ready,     ///< up: the sender is warmed up
  begin,     ///< down: the time of the common start, on the receiver's clock
  clock,     ///< down and up: a round trip that measures the clock
  progress,  ///< up and down, several times a second; up: what the sender works on
  stop,      ///< down: end early
  work,      ///< down: what the receiver is to do
  answer,    ///< up: a result of work
  done,      ///< up: the sender has completed its frames
  all_done,  ///< down: all ranks have
  result,    ///< up: the sender's record, or the error that ended it
  end,       ///< down, the last
};

struct rank_message {
  int from = 0;
  message_kind kind = message_kind::hello;
  std::string text;
};

/// A tensor in transit. Its bytes stay in place until the transfer is done.
struct data_transfer {
  void* handle = nullptr;  ///< the communicator's
};

/// Messages and tensors between the ranks of one job. Messages of one sender arrive in the order in
/// which they were sent, as do the tensors of one sender and channel. Thread-safe, except that
/// messages are received on one thread at a time.
class communicator {
 public:
  virtual ~communicator() = default;
  communicator() = default;
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  int local_rank() const noexcept { return local_rank_; }  ///< among those of this machine
  int local_size() const noexcept { return local_size_; }
  const std::string& library() const noexcept { return library_; }

  /// May wait for the receiver if the text is longer than about 4 KB.
  /// @throws run_error
  virtual void send(int to, message_kind kind, std::string_view text) = 0;

  /// Returns a message that has arrived; empty if there is none.
  /// @throws run_error
  virtual std::optional<rank_message> receive() = 0;

  /// Returns true if a part of a message of this rank has arrived.
  virtual bool receives_from(int) const { return false; }

  /// Starts to send or receive a tensor. Both sides give the same number of bytes.
  /// @throws run_error
  virtual void start_send(int to, int channel, std::span<const std::byte> bytes,
                          data_transfer& transfer) = 0;
  virtual void start_receive(int from, int channel, std::span<std::byte> bytes,
                             data_transfer& transfer) = 0;

  /// Returns true if a transfer that was started is done; that of a sender is not done before the
  /// receiver has started its own. Also lets the others make progress.
  /// @throws run_error
  virtual bool is_done(data_transfer& transfer) = 0;

  /// Ends a receive that is not done.
  virtual void cancel(data_transfer& transfer) = 0;

  /// Ends all ranks at once.
  [[noreturn]] virtual void abort(int status) = 0;

 protected:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  std::string library_;
};

}  // namespace graphline
