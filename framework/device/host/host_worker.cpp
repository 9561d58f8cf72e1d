#include "framework/device/host/host_worker.hpp"

#include <fmt/format.h>

#include <omp.h>
#include <pthread.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/base/thread_number.hpp"
#include "framework/device/host/host_graph.hpp"
#include "framework/device/host/host_stream.hpp"

namespace graphline {
namespace {

bool is_pending(const lane_wait& d) noexcept {
  return d.on != nullptr && !d.on->passed(d.at);
}

void perform(const command& c) {
  if (const auto* operate = std::get_if<operate_command>(&c)) {
    operate->operation->run();
  } else if (const auto* copy = std::get_if<copy_command>(&c)) {
    perform(*copy);
  } else if (const auto* fill = std::get_if<fill_command>(&c)) {
    perform(*fill);
  }
}

template <class Work>
std::thread start_thread(const char* failure, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& e) {
    throw thread_start_error(failure, e);
  }
}

}  // namespace

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
    thread_ = start_thread("the host device could not start its thread for host functions", [this] {
      name_thread("host functions");
      const scoped_cpu_affinity kept(cpus_);
      serve();
    });
  });
}

void host_caller::submit(handed_call& call, host_function& f) noexcept {
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
    // Must be sequentially consistent with the worker's `parked_`, see `host_worker::idle`.
    call.returned_.store(true, std::memory_order_seq_cst);
    worker_.notice();
    lock.lock();
  }
}

host_worker::host_worker(lane_table& lanes, device_failure& failed, operation_log& log,
                         int compute_threads, cpu_split cpus)
    : lanes_(lanes),
      failed_(failed),
      log_(log),
      roster_(lane_table::make_roster()),
      caller_(failed, *this, std::move(cpus.others)),
      thread_(start_thread(
          "the host device could not start its thread",
          [this, compute_threads, own = std::move(cpus.device)] { serve(compute_threads, own); })) {
  const std::scoped_lock lock(workers_mutex_);
  workers_.push_back(this);
}

host_worker::~host_worker() {
  {
    const std::scoped_lock lock(workers_mutex_);
    std::erase(workers_, this);
  }
  stop_.store(true, std::memory_order_seq_cst);
  notice();
  thread_.join();
}

void host_worker::call(const std::function<void()>& work) {
  failed_.throw_if_set();
  if (std::this_thread::get_id() == thread_.get_id()) return work();

  std::packaged_task<void()> task([&work, at = thread_activity::own().at()] {
    const stage_scope scope(at);
    work();
  });
  std::future<void> done = task.get_future();
  {
    const std::scoped_lock lock(calls_mutex_);
    calls_.push_back(std::move(task));
    has_calls_.store(true, std::memory_order_seq_cst);
    notice();
  }
  done.get();
}

void host_worker::serve(int compute_threads, const cpu_set& cpus) {
  const scoped_cpu_affinity kept(cpus);
  name_thread(device_thread_name);
  omp_set_dynamic(0);
  omp_set_num_threads(compute_threads);
  // Creates the team now, because libgomp ends the program if it fails to start a thread later.
  flush_denormals(true);
  for (;;) {
    if (serve_one()) continue;
    if (stop_.load(std::memory_order_seq_cst)) return;
    idle();
  }
}

bool host_worker::serve_one() {
  if (has_calls_.load(std::memory_order_seq_cst)) {
    serve_calls();
    return true;
  }
  lane* l = choose();
  if (l == nullptr) return false;
  execute_front(*l);
  return true;
}

void host_worker::serve_calls() {
  flush_denormals(false);
  std::unique_lock lock(calls_mutex_);
  has_calls_.store(false, std::memory_order_seq_cst);
  // Takes calls one at a time, so that calls added by other threads run too.
  while (!calls_.empty()) {
    std::packaged_task<void()> task = std::move(calls_.front());
    calls_.erase(calls_.begin());
    lock.unlock();
    task();
    lock.lock();
  }
}

lane* host_worker::choose() {
  for (;;) {
    if (const std::uint64_t version = lanes_.version(); version != roster_version_) {
      lanes_.list(roster_);
      roster_version_ = version;
    }
    const std::uint64_t points_before = points_passed_;
    bool any_blocked = false;
    lane* chosen = nullptr;
    for (std::size_t level = 0; level < roster_.size(); ++level) {
      const std::vector<lane*>& lanes = roster_[level];
      std::size_t i = turn_[level];
      for (std::size_t checked = 0; checked < lanes.size(); ++checked, ++i) {
        if (i >= lanes.size()) i = 0;
        if (lanes[i]->backlog() == 0) continue;
        const state s = settle(*lanes[i]);
        any_blocked |= s == state::blocked;
        if (s == state::ready && chosen == nullptr) {
          chosen = lanes[i];
          turn_[level] = i + 1;
        }
      }
    }
    // A recording completed in this scan may have released a lane that was checked before it.
    if (!any_blocked || points_passed_ == points_before) return chosen;
  }
}

// Executes commands that take no time, up to the lane's next operation. Handles only commands that
// were queued at the start, so that a busy producer cannot keep the worker here.
host_worker::state host_worker::settle(lane& l) noexcept {
  for (std::uint64_t left = l.backlog(); left > 0; --left) {
    if (is_work(l.front())) return state::ready;
    const state s = settle_front(l);
    if (s != state::passed) return s;
    l.complete();
    if (peer_waits_.load(std::memory_order_seq_cst) > 0) wake_peers();
  }
  return state::idle;
}

void host_worker::wake_peers() noexcept {
  const std::scoped_lock lock(workers_mutex_);
  for (host_worker* worker : workers_) {
    if (worker != this) worker->notice();
  }
}

host_worker::state host_worker::settle_front(lane& l) noexcept {
  const command& c = l.front();
  if (const auto* record = std::get_if<record_command>(&c)) {
    if (record->stamped != nullptr) {
      record->stamped->stamp(recorded_point::at(l.id(), l.front_ticket()), l.busy);
    }
    ++points_passed_;
    return state::passed;
  }
  if (const auto* wait = std::get_if<wait_command>(&c)) {
    if (is_pending(wait->after)) return state::blocked;
    if (wait->of_peer != nullptr) {
      peer_waits_.fetch_sub(1, std::memory_order_relaxed);
      failed_.set_from(*wait->of_peer);
    }
    return state::passed;
  }
  if (const auto* launch = std::get_if<launch_command>(&c)) {
    return is_pending(launch->after) ? state::blocked : settle_run(*launch->run);
  }
  return settle_call(l, *std::get<call_command>(c).function);
}

host_worker::state host_worker::settle_call(lane& l, host_function& f) noexcept {
  if (!l.call_is_submitted) {
    caller_.submit(l.call, f);
    l.call_is_submitted = true;
  }
  if (!l.call.has_returned()) return state::blocked;
  l.call_is_submitted = false;
  return state::passed;
}

host_worker::state host_worker::settle_run(graph_run& run) noexcept {
  switch (run.advance(caller_)) {
    case graph_run::standing::ready:
      return state::ready;
    case graph_run::standing::waiting:
      return state::blocked;
    case graph_run::standing::complete:
      break;
  }
  ++points_passed_;
  return state::passed;
}

void host_worker::execute_front(lane& l) noexcept {
  const command& c = l.front();
  if (const auto* launch = std::get_if<launch_command>(&c)) {
    const stage_scope scope(launch->run->next_point(l.front_point()));
    const nanoseconds time = execute(launch->run->next());
    l.busy += time;
    if (launch->run->next_done(time)) return;
  } else {
    const stage_scope scope(l.front_point());
    l.busy += execute(c);
    l.complete();
  }
  settle(l);  // before other lanes, so that a stamp after the operation is not late
}

void host_worker::fail(const command& c, std::string_view reason) noexcept {
  failed_.set(
      thread_activity::own().at(), [&] { return name_of(c); }, "host", reason);
}

nanoseconds host_worker::execute(const command& c) noexcept {
  if (failed_.is_set()) return 0;
  const auto* operate = std::get_if<operate_command>(&c);
  if (operate != nullptr) flush_denormals(operate->operation->flushes_denormals());
  try {
    const nanoseconds begin = now();
    perform(c);
    const nanoseconds time = now() - begin;
    // The log is written outside the measured time.
    if (log_.is_on()) log_.note(name_of(c), time);
    return time;
  } catch (...) {
    fail(c, reason_of_caught());
  }
  return 0;
}

// No wake-up is lost. The worker sets `parked_`, then checks lanes and calls. A producer publishes,
// or a call returns, before `notice` reads `parked_`. Both pairs are sequentially consistent, so at
// least one side sees the other's write. The same holds for a point that another device completes
// before it calls `notice` and for which this worker's lanes wait.
void host_worker::idle() {
  constexpr int polls_per_clock_read = 16;
  const nanoseconds until = now() + idle_polling;
  do {
    for (int i = 0; i < polls_per_clock_read; ++i) {
      pause_briefly();
      if (serve_one()) return;
    }
  } while (now() < until);

  parked_.store(1, std::memory_order_seq_cst);
  lane* found = choose();
  if (found == nullptr && !has_calls_.load(std::memory_order_seq_cst) &&
      !stop_.load(std::memory_order_seq_cst)) {
    parked_.wait(1, std::memory_order_seq_cst);
  }
  parked_.store(0, std::memory_order_seq_cst);
  if (found != nullptr) execute_front(*found);
}

void host_worker::unpark() noexcept {
  parked_.store(0, std::memory_order_seq_cst);
  parked_.notify_one();
}

}  // namespace graphline
