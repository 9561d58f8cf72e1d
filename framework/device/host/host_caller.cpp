#include "framework/device/host/host_caller.hpp"

#include <system_error>

#include "framework/base/thread_number.hpp"
#include "framework/device/host/host_worker.hpp"

namespace graphline {

host_caller::~host_caller() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  handed_over_.notify_one();
  thread_.join();
}

void host_caller::start() {
  std::call_once(started_, [this] {
    try {
      thread_ = std::thread([this] {
        name_thread("host functions");
        const kept_to_cpus kept(cpus_);
        serve();
      });
    } catch (const std::system_error& e) {
      throw no_thread("the host device could not start its thread for host functions", e);
    }
  });
}

void host_caller::hand_over(handed_call& call, host_function& f) noexcept {
  call.function_ = &f;
  call.next_ = nullptr;
  call.returned_.store(false, std::memory_order_relaxed);
  {
    const std::scoped_lock lock(mutex_);
    (first_ == nullptr ? first_ : last_->next_) = &call;
    last_ = &call;
  }
  handed_over_.notify_one();
}

void host_caller::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    handed_over_.wait(lock, [this] { return first_ != nullptr || stop_; });
    if (first_ == nullptr) return;
    handed_call& call = *first_;
    first_ = call.next_;
    lock.unlock();
    if (!failed_.is_set()) call.function_->call();
    // Stored in one total order with the worker's going to sleep, as `host_worker::notice` asks.
    call.returned_.store(true, std::memory_order_seq_cst);
    worker_.notice();
    lock.lock();
  }
}

}  // namespace graphline
