#include "framework/device/model/model_stream.hpp"

#include <fmt/format.h>

#include <mutex>
#include <typeinfo>

#include "framework/base/error.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/model/model_graph.hpp"

namespace graphline {

bool model_event::done() const {
  const std::scoped_lock lock(engine_.mutex);
  refuse_if_captured(*this);
  engine_.failed.throw_if_set();
  return latest_.has_passed();
}

void model_event::wait(wait_mode /*how*/) const {
  const std::scoped_lock lock(engine_.mutex);
  refuse_if_captured(*this);
  engine_.wait_until([passes = latest_] { return passes.has_passed(); });
  engine_.failed.throw_if_set();
}

nanoseconds model_event::since(const timed_event& earlier) const {
  const std::scoped_lock lock(engine_.mutex);
  const auto& from = same_engine<model_event>(earlier, engine_);
  refuse_without_time();
  from.refuse_without_time();
  return at_ - from.at_;
}

host_point model_event::on_host_clock() const {
  const std::scoped_lock lock(engine_.mutex);
  refuse_without_time();
  return {at_, engine_.settings.clock_tick - 1};
}

std::optional<nanoseconds> model_event::busy_since(const timed_event& earlier) const {
  const std::scoped_lock lock(engine_.mutex);
  const auto& from = same_engine<model_event>(earlier, engine_);
  refuse_without_time();
  from.refuse_without_time();
  return busy_ - from.busy_;
}

void model_event::refuse_without_time() const {
  if (!was_stamped_in_graph_) {
    refuse_if_captured(*this);
    if (!was_recorded()) throw run_error(fmt::format("event '{}' was never recorded", name_));
  }
  if (!latest_.has_passed()) {
    throw run_error(fmt::format("event '{}' has not passed yet; wait for it first", name_));
  }
}

model_stream::model_stream(model_engine& engine, std::string name, priority level)
    : engine_(engine), name_(std::move(name)), lane_(engine.acquire(level)) {}

model_stream::~model_stream() {
  const std::scoped_lock lock(engine_.mutex);
  engine_.drain_until([this] { return lane_.latest_point().has_passed(); });
  engine_.release(lane_);
}

void model_stream::operate(model_operation operation) {
  submit_or_capture(std::move(operation), "operation");
}

void model_stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  submit_or_capture(copy_command{to, from, bytes}, "copy");
}

void model_stream::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes == 0) return;
  submit_or_capture(fill_command{to, bytes, value}, "fill");
}

void model_stream::record(event& e) {
  const std::scoped_lock lock(engine_.mutex);
  auto& ours = same_engine<model_event>(e, engine_);
  if (capture_ != nullptr) return capture_->record(*this, ours);
  engine_.submit(lane_, model_record{&ours});
  ours.recorded(lane_.latest_point());
}

void model_stream::wait(const event& e) {
  const std::scoped_lock lock(engine_.mutex);
  if (typeid(e) == typeid(model_event)) {
    const auto& theirs = static_cast<const model_event&>(e);
    if (&theirs.engine() != &engine_ && &theirs.engine().clock == &engine_.clock) {
      refuse_captured_peer(*this, theirs);
      if (theirs.was_recorded()) engine_.submit(lane_, model_wait{theirs.latest()});
      return;
    }
  }
  const auto& ours = same_engine<model_event>(e, engine_);
  if (!ours.was_recorded()) return;
  if (model_capture* const capture = capture_of_wait(engine_.captures, *this, ours)) {
    return capture->wait(*this, ours);
  }
  engine_.submit(lane_, model_wait{ours.latest()});
}

void model_stream::call(host_function& f) {
  submit_or_capture(call_command{&f}, "call");
}

void model_stream::stamp(timed_event& e) {
  if (capture_ == nullptr) return record(e);
  capture_->add(*this, model_record{&same_engine<model_event>(e, engine_)}, "stamp");
}

void model_stream::select(const std::uint32_t* selector,
                          std::span<const std::function<void()>> bodies) {
  if (capture_ == nullptr) refuse_select_outside_capture(name_);
  capture_->select(*this, selector, bodies);
}

void model_stream::launch(graph_exec& g) {
  const std::scoped_lock lock(engine_.mutex);
  auto& ours = same_engine<model_graph_exec>(g, engine_);
  if (capture_ != nullptr) refuse_launch_in_capture(name_);
  engine_.submit(lane_, model_wait{ours.latest_launch()});  // its launches never overlap
  engine_.submit(lane_, model_launch{&ours.run()});
  ours.launched(lane_.latest_point());
}

void model_stream::submit_or_capture(model_command c, const char* type) {
  if (capture_ != nullptr) return capture_->add(*this, std::move(c), type);
  const std::scoped_lock lock(engine_.mutex);
  engine_.submit(lane_, std::move(c));
}

}  // namespace graphline
