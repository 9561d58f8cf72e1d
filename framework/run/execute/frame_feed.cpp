#include "framework/run/execute/frame_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/run/execute/frame_schedule.hpp"

namespace graphline {

class feed_source final : public cpu_stage {
 public:
  explicit feed_source(frame_feed& feed) : feed_(feed) {}
  void run(const cpu_call& call) override { feed_.take(call.frame, call.outputs); }

 private:
  frame_feed& feed_;
};

frame_feed::frame_feed(std::vector<tensor_type> tensors) : tensors_(std::move(tensors)) {}

stage_kind frame_feed::source_kind(std::string name) {
  stage_kind kind;
  kind.name = std::move(name);
  kind.headline = "Frames that the application submits";
  kind.on = side::cpu;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    kind.outputs.push_back(
        {tensors_.size() == 1 ? "frame" : fmt::format("frame{}", i), to_string(tensors_[i])});
  }
  kind.prepare = [this](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return prepared_stage{.outputs = tensors_, .make_cpu = [this](const stage_config&) {
                            return std::make_unique<feed_source>(*this);
                          }};
  };
  return kind;
}

bool frame_feed::submit(std::initializer_list<const_tensor_view> frame) {
  const nanoseconds due = now();
  frame_data data;
  for (const const_tensor_view& tensor : frame) {
    const auto* begin = tensor.as<std::byte>();
    data.emplace_back(begin, begin + tensor.type.bytes());
  }
  if (!std::ranges::equal(frame, tensors_, {}, &const_tensor_view::type)) {
    throw std::logic_error("the submitted tensors do not have the types of the feed");
  }
  std::unique_lock locked(lock_);
  const auto takes = [this] { return open_ && !closed_; };
  if (!takes()) return false;
  if (waiting_.size() >= room_) {
    ++load_.found_full;
    if (when_full_ == queue_policy::drop_newest) {
      load_.dropped.push_back(due);
      return false;
    }
    if (when_full_ == queue_policy::drop_oldest) {
      load_.dropped.push_back(waiting_.front().due);
      waiting_.pop_front();
    }
    changed_.wait(locked, [&] { return waiting_.size() < room_ || !takes(); });
    if (!takes()) return false;
  }
  waiting_.push_back({due, std::move(data)});
  load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(waiting_.size()));
  changed_.notify_all();
  return true;
}

void frame_feed::close() {
  const std::lock_guard locked(lock_);
  closed_ = true;
  changed_.notify_all();
}

void frame_feed::open(const settings& run) {
  if (run.arrival == arrival::closed) {
    throw input_error(
        "submitted frames need an open load: set arrival: constant with the expected rate");
  }
  if (run.arrival == arrival::trace || run.phase || run.jitter || run.burst > 1) {
    throw input_error(
        "submitted frames are due when they are submitted: set arrival: constant, and omit phase, "
        "jitter and burst");
  }
  const std::lock_guard locked(lock_);
  open_ = true;
  left_ = run.frames;
  next_ = run.warmup;
  give_up_ = give_up_time(run);
  room_ = static_cast<std::size_t>(run.queue);
  when_full_ = run.when_full;
  waiting_.clear();
  begun_.clear();
  begun_due_.clear();
  load_ = {};
}

frame_feed::next_frame frame_feed::begin_next(nanoseconds at_most) {
  std::unique_lock locked(lock_);
  if (left_ == 0) return {state::over};
  changed_.wait_for(locked, std::chrono::nanoseconds(at_most),
                    [this] { return !waiting_.empty() || closed_; });
  while (!waiting_.empty() && now() - waiting_.front().due > give_up_) {
    load_.dropped.push_back(waiting_.front().due);
    waiting_.pop_front();
    changed_.notify_all();
  }
  if (waiting_.empty()) return {closed_ ? state::over : state::waiting};
  --left_;
  const nanoseconds due = waiting_.front().due;
  begun_due_.push_back(due);
  begun_.emplace_back(next_++, std::move(waiting_.front().data));
  waiting_.pop_front();
  changed_.notify_all();
  return {state::begun, due};
}

load_record frame_feed::end(nanoseconds epoch, nanoseconds ended, std::int64_t completed) {
  const std::lock_guard locked(lock_);
  open_ = false;
  changed_.notify_all();
  load_.ended = ended - epoch;
  load_.unfinished.assign(begun_due_.begin() + completed, begun_due_.end());
  for (const waiting_frame& frame : waiting_) load_.unfinished.push_back(frame.due);
  for (auto* times : {&load_.dropped, &load_.unfinished}) {
    for (nanoseconds& time : *times) time -= epoch;
  }
  std::ranges::sort(load_.dropped);
  return std::move(load_);
}

void frame_feed::take(std::int64_t frame, std::span<const tensor_view> into) {
  frame_data data;
  {
    const std::lock_guard locked(lock_);
    while (!begun_.empty() && begun_.front().first < frame) begun_.pop_front();
    if (!begun_.empty()) {
      data = std::move(begun_.front().second);
      begun_.pop_front();
    }
  }
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (data.empty()) {
      std::memset(into[i].data, 0, into[i].type.bytes());
    } else {
      std::memcpy(into[i].data, data[i].data(), data[i].size());
    }
  }
}

}  // namespace graphline
