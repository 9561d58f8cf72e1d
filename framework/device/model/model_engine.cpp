#include "framework/device/model/model_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/device/model/model_graph.hpp"
#include "framework/device/model/model_stream.hpp"

namespace graphline {
namespace {

nanoseconds copy_time(const model_settings& settings, std::size_t bytes) {
  if (settings.copy_bandwidth == 0) return settings.copy_latency;
  return settings.copy_latency +
         std::llround(static_cast<double>(bytes) / settings.copy_bandwidth * 1e9);
}

/// Performs a command at the end of its duration.
void perform(const model_command& c) noexcept {
  if (const auto* copy = std::get_if<copy_command>(&c)) perform(*copy);
  if (const auto* fill = std::get_if<fill_command>(&c)) perform(*fill);
  if (const auto* call = std::get_if<call_command>(&c)) call->function->call();
}

bool is_call(const model_command& c) noexcept {
  return std::holds_alternative<call_command>(c);
}

}  // namespace

std::string name_of(const model_command& c) {
  if (const auto* operation = std::get_if<model_operation>(&c)) return operation->name;
  if (const auto* copy = std::get_if<copy_command>(&c)) return name_of(*copy);
  if (const auto* fill = std::get_if<fill_command>(&c)) return name_of(*fill);
  if (const auto* call = std::get_if<call_command>(&c)) return name_of(*call);
  if (const auto* select = std::get_if<select_command>(&c)) return name_of(*select);
  if (const auto* record = std::get_if<model_record>(&c)) return record->stamped->name();
  return "";  // not a node
}

model_engine::model_engine(virtual_clock& on, const model_settings& given)
    : clock(on), settings(given), operations_{given.operations_at_once} {}

model_lane& model_engine::acquire(priority level) {
  auto spare = std::ranges::find(lanes_, false, [](const auto& l) { return l->is_in_use; });
  if (spare == lanes_.end()) spare = lanes_.insert(spare, std::make_unique<model_lane>(*this));
  (*spare)->level = level;
  (*spare)->is_in_use = true;
  return **spare;
}

void model_engine::submit(model_lane& lane, model_command c) {
  lane.queue.push_back(std::move(c));
  lane.points.push_back(thread_activity::own().at());
  ++lane.submitted;
  if (unfinished_++ == 0) {
    const bool slept = clock.now() - idle_since_ >= settings.long_idle;
    serves_from_ = clock.now() + (slept ? settings.idle_start : settings.short_idle_start);
  }
  if (lane.queue.size() == 1) resume(lane);
}

void model_engine::resume(model_lane& lane) {
  clock.at(std::max(clock.now(), serves_from_), [this, &lane] {
    resumed_.push_back(&lane);
    settle();
  });
}

// Executes commands that take no time: first in resumed lanes, then in lanes that these commands
// release.
void model_engine::settle() {
  for (;;) {
    if (resumed_.empty()) free_waiting();
    if (resumed_.empty()) return;
    model_lane& lane = *resumed_.front();
    resumed_.pop_front();
    while (!lane.queue.empty() && passes(lane)) complete_front(lane);
  }
}

void model_engine::free_waiting() {
  if (!std::exchange(any_passed_, false)) return;
  std::erase_if(waiting_, [this](const waiting_lane& w) {
    if (!w.after.has_passed()) return false;
    if (w.lane->engine == this) {
      resumed_.push_back(w.lane);
    } else {
      w.lane->engine->resume(*w.lane);
    }
    return true;
  });
}

// Returns true if the lane's first command completes at once. Otherwise the lane is resumed later.
bool model_engine::passes(model_lane& lane) {
  const model_command& c = lane.queue.front();
  if (const auto* record = std::get_if<model_record>(&c)) {
    record->stamped->pass(lane.front_point(), clock.now(), lane.busy.total());
    return true;
  }
  if (const auto* wait = std::get_if<model_wait>(&c)) {
    const auto& [on, at] = wait->after;
    if (!wait->after.has_passed()) {
      on->engine->waiting_.push_back({&lane, wait->after});
      return false;
    }
    if (on != nullptr && on->engine != this) failed.set_from(on->engine->failed);
    return true;
  }
  if (const auto* launch = std::get_if<model_launch>(&c)) {
    if (settings.graph_overhead == 0) return launch->run->begin(lane);
    clock.at(clock.now() + settings.graph_overhead, [this, &lane] { begin_graph(lane); });
    return false;
  }
  lane.front = {.what = &c, .lane = &lane};
  make_ready(lane.front);
  return false;
}

void model_engine::begin_graph(model_lane& lane) {
  if (!std::get<model_launch>(lane.queue.front()).run->begin(lane)) return;
  complete_front(lane);
  resumed_.push_back(&lane);
  settle();
}

void model_engine::complete_front(model_lane& lane) {
  lane.queue.pop_front();
  lane.points.pop_front();
  ++lane.completed;
  if (--unfinished_ == 0) idle_since_ = clock.now();
  any_passed_ = true;
}

void model_engine::make_ready(model_job& job) {
  const nanoseconds overhead = is_call(*job.what) ? 0 : settings.operation_overhead;
  if (overhead == 0) return enter(job);
  clock.at(clock.now() + overhead, [this, &job] { enter(job); });
}

void model_engine::enter(model_job& job) {
  pool_of(*job.what).ready.push({job.lane->level, ready_count_++, &job});
  start_later();
}

// Schedules nothing if no job can start, so that an idle device may be destroyed.
void model_engine::start_later() {
  if (is_starting_later_) return;
  if (!calls_.can_start() && !copies_.can_start() && !operations_.can_start()) return;
  is_starting_later_ = true;
  clock.at_end_of(clock.now(), [this] { start_ready(); });
}

void model_engine::start_ready() {
  is_starting_later_ = false;
  for (engine_pool* pool : {&calls_, &copies_, &operations_}) {
    while (pool->can_start()) {
      model_job& job = *pool->ready.top().job;
      pool->ready.pop();
      --pool->free;
      if (start(job) == 0) return;  // a job without duration finishes before other jobs start
    }
  }
}

nanoseconds model_engine::start(model_job& job) {
  const nanoseconds time = time_of(job);
  if (!is_call(*job.what)) {
    if (log.is_on() && !failed.is_set()) log.note(name_of(*job.what), time);
    job.lane->busy.begin(clock.now());
    if (job.run != nullptr) job.run->busy_of(job.node).begin(clock.now());
  }
  clock.at(clock.now() + time, [this, &job] { finish(job); });
  return time;
}

void model_engine::finish(model_job& job) {
  ++pool_of(*job.what).free;
  if (!is_call(*job.what)) {
    job.lane->busy.end(clock.now());
    if (job.run != nullptr) job.run->busy_of(job.node).end(clock.now());
  }
  if (!failed.is_set()) perform(*job.what);
  model_lane& lane = *job.lane;
  if (job.run == nullptr || job.run->done(job)) {
    complete_front(lane);
    resumed_.push_back(&lane);
    settle();
  }
  start_later();
}

nanoseconds model_engine::time_of(const model_job& job) {
  if (failed.is_set()) return 0;
  const model_command& c = *job.what;
  try {
    nanoseconds time = 0;
    if (const auto* operation = std::get_if<model_operation>(&c)) time = operation->duration();
    if (const auto* copy = std::get_if<copy_command>(&c)) time = copy_time(settings, copy->bytes);
    if (const auto* fill = std::get_if<fill_command>(&c)) time = copy_time(settings, fill->bytes);
    if (const auto* call = std::get_if<call_command>(&c)) {
      auto* const timed = dynamic_cast<model_timed_call*>(call->function);
      if (timed != nullptr) time = timed->call_time();
    }
    if (time < 0) throw run_error(fmt::format("its duration is {} ns", time));
    return time;
  } catch (const std::exception& e) {
    fail(job, reason_of(e));
  } catch (...) {
    fail(job, "an exception not derived from std::exception");
  }
  return 0;
}

void model_engine::fail(const model_job& job, std::string_view reason) noexcept {
  const stage_point& front = job.lane->points.front();
  const stage_point at = job.run == nullptr ? front : job.run->point_of(job.node, front);
  failed.set(
      at, [&] { return name_of(*job.what); }, "model", reason);
}

model_engine::engine_pool& model_engine::pool_of(const model_command& c) noexcept {
  if (is_call(c)) return calls_;
  const bool is_operation = std::holds_alternative<model_operation>(c);
  return settings.copies_apart && !is_operation ? copies_ : operations_;
}

}  // namespace graphline
