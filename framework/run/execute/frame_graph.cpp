#include "framework/run/execute/frame_graph.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "framework/device/model/model_device.hpp"

namespace graphline {
namespace {

/// Does the work of a host node. After an exception, the host nodes of all frames do nothing.
template <class Work>
void attempt(const bound_stage& stage, frame_launch& launched, const Work& work) noexcept {
  if (launched.abandoned->load(std::memory_order_relaxed)) return;
  try {
    work();
  } catch (...) {
    launched.problem = std::current_exception();
    launched.failed_stage = stage.index;
    launched.abandoned->store(true, std::memory_order_relaxed);
  }
}

/// Host node that runs a CPU stage.
class stage_call final : public host_function, public model_timed_call {
 public:
  stage_call(bound_stage& stage, frame_launch& launched) : stage_(stage), launched_(launched) {}

  std::string_view name() const noexcept override { return stage_.name; }

  void call() noexcept override {
    if (launched_.runner == nullptr || launched_.in_virtual_time != nullptr) return;
    attempt(stage_, launched_, [this] { launched_.runner->run_on_cpu(stage_, launched_.frame); });
  }

  nanoseconds call_time() noexcept override {
    nanoseconds time = 0;
    if (launched_.in_virtual_time != nullptr) {
      attempt(stage_, launched_,
              [&] { time = (*launched_.in_virtual_time)(stage_, launched_.frame); });
    }
    return time;
  }

 private:
  bound_stage& stage_;
  frame_launch& launched_;
};

/// Host node that decides how much of a device stage runs, and selects the body of its switch.
class stage_choice final : public host_function {
 public:
  stage_choice(bound_stage& stage, frame_launch& launched) : stage_(stage), launched_(launched) {}

  std::string_view name() const noexcept override { return stage_.name; }

  /// The launches of the preparation run all rows, whatever the tensors hold.
  void call() noexcept override {
    *stage_.selector = no_body;
    if (launched_.runner == nullptr) {
      *stage_.selector = static_cast<std::uint32_t>(stage_.whole());
      return;
    }
    attempt(stage_, launched_, [this] {
      const launch_clock clock{launched_.clock};
      if (!launched_.runner->runs(stage_, launched_.frame, clock)) return;
      *stage_.selector = static_cast<std::uint32_t>(stage_.chosen.variant);
    });
  }

 private:
  struct launch_clock {
    const virtual_clock* in_virtual_time;

    nanoseconds now() const noexcept {
      return in_virtual_time != nullptr ? in_virtual_time->now() : graphline::now();
    }
    std::uint32_t thread() const noexcept { return thread_number(); }
  };

  static constexpr std::uint32_t no_body = std::numeric_limits<std::uint32_t>::max();

  bound_stage& stage_;
  frame_launch& launched_;
};

}  // namespace

frame_graph::frame_graph(device& d, const plan& p, slot& s,
                         const std::vector<std::unique_ptr<stream>>& streams, stream& origin)
    : device_(d),
      plan_(p),
      slot_(s),
      streams_(streams),
      origin_(origin),
      fork_(d.make_event("frame fork", wait_mode::spin)),  // the host never waits for it
      complete_(d.make_event("frame complete", p.run.wait)) {
  for (auto& stage : slot_.stages) {
    if (stage.cpu != nullptr) {
      stage.call = std::make_unique<stage_call>(stage, current_);
    } else if (stage.decision != nullptr) {
      stage.call = std::make_unique<stage_choice>(stage, current_);
    }
  }
}

void frame_graph::enqueue(timing_method method) {
  fork_and_join([&](bound_stage& stage) { enqueue(stage, method); });
}

void frame_graph::enqueue_eagerly() {
  fork_and_join([&](bound_stage& stage) {
    if (stage.call != nullptr) stage.on->call(*stage.call);
    if (stage.cpu == nullptr) stage.variants[stage.whole()].work->enqueue(*stage.on);
  });
}

void frame_graph::fork_and_join(const std::function<void(bound_stage&)>& enqueue_stage) {
  origin_.record(*fork_);
  for (const auto& s : streams_) s->wait(*fork_);
  for (auto& stage : slot_.stages) {
    with_stage_context(plan_.stages[stage.index], "enqueueing it in a frame graph", [&] {
      for (const event* e : stage.stream_waits) stage.on->wait(*e);
      enqueue_stage(stage);
      if (stage.complete != nullptr) stage.on->record(*stage.complete);
    });
  }
  for (const auto& stage : slot_.stages) {
    // Waiting for the stages without followers is enough: all other stages complete earlier.
    if (plan_.stages[stage.index].followers.empty()) origin_.wait(*stage.complete);
  }
}

void frame_graph::enqueue(bound_stage& stage, timing_method method) {
  if (stage.cpu != nullptr) {
    stage.on->call(*stage.call);
  } else {
    const bool stamped = method != timing_method::none;
    if (stage.decision != nullptr) stage.on->call(*stage.call);
    if (stamped) stage.on->stamp(*stage.begin);
    if (stage.decision != nullptr) {
      enqueue_switch(stage);
    } else if (method == timing_method::layers && stage.variant().parts != nullptr) {
      stage.variant().parts->enqueue(*stage.variant().work, *stage.on);
    } else {
      stage.variant().work->enqueue(*stage.on);
    }
    if (stamped) stage.on->stamp(*stage.end);
  }
}

/// Enqueues all variants of a stage, of which a frame runs one or none. Their parts have no stamps,
/// because a body cannot contain any.
void frame_graph::enqueue_switch(bound_stage& stage) {
  std::vector<std::function<void()>> bodies;
  for (bound_variant& each : stage.variants) {
    bodies.push_back([&] { each.work->enqueue(*stage.on); });
  }
  stage.on->select(stage.selector, bodies);
}

void frame_graph::instrument(timing_method method) {
  if (executable(method) != nullptr) return;
  keep(method, device_.capture(origin_, [&] { enqueue(method); })->instantiate());
}

void frame_graph::launch(timing_method method) {
  origin_.launch(*executable(method));
  origin_.record(*complete_);
}

part_stamps::part_stamps(device& d, const std::string& stage, std::size_t parts) {
  for (std::size_t i = 0; i <= parts; ++i) {
    boundaries_.push_back(d.make_timed_event(fmt::format("{} boundary {}", stage, i)));
  }
}

void part_stamps::enqueue(device_work& work, stream& s) {
  s.stamp(*boundaries_.front());
  enqueue_in_parts(work, s, boundaries_.size() - 1,
                   [&](std::size_t part) { s.stamp(*boundaries_[part + 1]); });
}

void enqueue_in_parts(device_work& work, stream& s, std::size_t parts,
                      const std::function<void(std::size_t)>& after) {
  struct counting final : part_marker {
    counting(std::size_t parts, const std::function<void(std::size_t)>& after)
        : parts_(parts), after_(after) {}

    void part_enqueued(stream& /*s*/) override {
      if (next_ == parts_) {
        throw run_error(
            fmt::format("enqueue_in_parts() reported more parts than parts() lists ({})", parts_));
      }
      after_(next_++);
    }

    std::size_t parts_;
    const std::function<void(std::size_t)>& after_;
    std::size_t next_ = 0;
  };
  if (parts == 0) return work.enqueue(s);
  counting marker(parts, after);
  work.enqueue_in_parts(s, marker);
  if (marker.next_ == parts) return;
  throw run_error(fmt::format("enqueue_in_parts() reported {} of the {} parts that parts() lists",
                              marker.next_, parts));
}

void bound_stage::decide() {
  const stage_decision& by = *decision;
  const auto missing = [](const bound_stage* producer) {
    return producer != nullptr && producer->chosen.rows == graphline::skipped;
  };
  chosen = {};
  bool skip = std::ranges::any_of(by.needed, missing) || (by.when != nullptr && *by.when == 0);
  bool second = false;
  for (const auto& other : by.alternatives) {
    second = missing(other.first);
    skip = skip || (second && missing(other.second));
    inputs[other.input] = second ? other.from_second : other.from_first;
  }
  if (skip) {
    chosen.rows = graphline::skipped;
    return;
  }
  if (by.rows == nullptr) {
    chosen.variant = second ? 1 : 0;
    return;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t found = *by.rows;
  if (found < 0) {
    throw run_error(
        fmt::format("the number of rows in '{}' is {}, expected 0 or more", by.rows_name, found));
  }
  chosen.rows = static_cast<std::int32_t>(std::min(found, most));
  const std::int64_t rows = std::min(found, by.capacity);
  for (const std::size_t i : by.row_inputs) inputs[i].type.shape.set_rows(rows);
  for (const std::size_t i : by.row_outputs) outputs[i].type.shape.set_rows(rows);
  const auto bucket = std::ranges::lower_bound(by.buckets, rows) - by.buckets.begin();
  chosen.variant = static_cast<std::size_t>(bucket) + (second ? by.buckets.size() : 0);
}

slot::slot() = default;
slot::slot(slot&&) noexcept = default;
slot::~slot() = default;

}  // namespace graphline
