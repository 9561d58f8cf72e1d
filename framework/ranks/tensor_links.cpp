#include "framework/ranks/tensor_links.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/thread_number.hpp"

namespace graphline {
namespace {

constexpr nanoseconds drain_timeout = 1'000'000'000;
constexpr unsigned long timer_slack = 1'000;  // in nanoseconds; 50,000 by default
constexpr useconds_t sleep_time = 20;

}  // namespace

tensor_links::tensor_links(communicator& messages, const std::vector<tensor_link>& links,
                           std::size_t depth, wait_mode how, const stop_request& stop)
    : messages_(messages), how_(how), cancel_(&stop) {
  for (const tensor_link& link : links) {
    ring& added = rings_.emplace_back();
    added.link = link;
    added.buffers.resize(depth);
    for (buffer& each : added.buffers) each.bytes.resize(link.bytes);
  }
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& e) {
    throw thread_start_error("the thread that carries tensors to other ranks could not be started",
                             e);
  }
}

tensor_links::~tensor_links() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  thread_.join();
}

void tensor_links::send(std::size_t link, std::span<const std::byte> bytes) {
  ring& of = rings_[link];
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return of.filled - of.ended < of.buffers.size() || canceled_; });
  throw_if_canceled();
  buffer& into = of.at(of.filled);
  lock.unlock();  // no transfer uses the buffer yet
  std::ranges::copy(bytes, into.bytes.begin());
  lock.lock();
  ++of.filled;
}

void tensor_links::await(std::size_t link) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_ready(rings_[link]); });
}

void tensor_links::receive(std::size_t link, std::span<std::byte> bytes) {
  ring& of = rings_[link];
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_ready(of); });
  if (of.ended == of.emptied) throw_if_canceled();
  buffer& from = of.at(of.emptied);
  lock.unlock();
  std::ranges::copy(from.bytes, bytes.begin());
  lock.lock();
  ++of.emptied;
}

bool tensor_links::has_arrived(std::size_t link, const std::function<void()>& then) {
  const std::scoped_lock lock(mutex_);
  if (is_ready(rings_[link])) return true;
  rings_[link].then = then;
  return false;
}

void tensor_links::serve() {
  name_thread("links");
  ::prctl(PR_SET_TIMERSLACK, timer_slack);
  std::vector<std::function<void()>> calls;
  nanoseconds ends = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    bool moved = false;
    bool leaving = false;  // something was sent that has not left
    try {
      if (!problem_) {
        for (ring& of : rings_) {
          moved = advance(of) || moved;
          leaving = leaving || (of.link.sends && of.ended < of.filled);
        }
      }
    } catch (...) {
      problem_ = std::current_exception();
      canceled_ = moved = true;
    }
    if (!canceled_ && cancel_.raised()) {
      canceled_ = moved = true;
    }
    if (ending_) {
      if (ends == 0) ends = now() + drain_timeout;
      if (!leaving || problem_ || now() > ends) break;
    }
    if (moved) {
      for (ring& of : rings_) {
        if (of.then && is_ready(of)) calls.push_back(std::exchange(of.then, {}));
      }
      changed_.notify_all();
    }
    lock.unlock();
    for (const auto& call : calls) call();
    calls.clear();
    if (!moved) pause();
    lock.lock();
  }
  // MPI does not cancel what is sent, and may still read it.
  static std::mutex keeping;
  static auto& kept = *new std::vector<std::vector<buffer>>();
  for (ring& of : rings_) {
    if (of.ended == of.started) continue;
    if (of.link.sends || problem_) {
      const std::scoped_lock hold(keeping);
      kept.push_back(std::move(of.buffers));
      continue;
    }
    while (of.ended < of.started) messages_.cancel(of.at(of.ended++).transfer);
  }
}

/// Starts and ends the transfers of a link. Returns true if one ended.
bool tensor_links::advance(ring& of) {
  if (!of.link.sends) of.filled = of.emptied + of.buffers.size();
  for (; of.started < of.filled; ++of.started) {
    buffer& next = of.at(of.started);
    if (of.link.sends) {
      messages_.start_send(of.link.peer, of.link.channel, next.bytes, next.transfer);
    } else {
      messages_.start_receive(of.link.peer, of.link.channel, next.bytes, next.transfer);
    }
  }
  const std::uint64_t before = of.ended;
  while (of.ended < of.started && messages_.is_done(of.at(of.ended).transfer)) ++of.ended;
  return of.ended > before;
}

void tensor_links::pause() const {
  if (how_ == wait_mode::block) {
    ::usleep(sleep_time);
  } else if (how_ == wait_mode::yield) {
    ::sched_yield();
  } else {
    pause_briefly();
  }
}

void tensor_links::throw_if_canceled() const {
  if (!canceled_) return;
  if (problem_) std::rethrow_exception(problem_);
  throw interrupted_error("interrupted");
}

}  // namespace graphline
