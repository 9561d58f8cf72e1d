#include "framework/run/execute/frame_graph.hpp"

#include <string_view>

#include "framework/run/execute/executor.hpp"

namespace graphline {
namespace {

/// A CPU stage as the device calls it.
class stage_call final : public host_function {
 public:
  stage_call(bound_stage& stage, frame_launch& launched) : stage_(stage), launched_(launched) {}

  std::string_view name() const noexcept override { return stage_.name; }

  void call() noexcept override {
    if (launched_.runner == nullptr || launched_.abandoned->load(std::memory_order_relaxed)) return;
    try {
      launched_.runner->run_on_cpu(stage_, launched_.frame);
    } catch (...) {
      launched_.problem = std::current_exception();
      launched_.failed_stage = stage_.index;
      launched_.abandoned->store(true, std::memory_order_relaxed);
    }
  }

 private:
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
      fork_(d.make_event("frame fork", wait_mode::spin)),  // nobody waits for it on the host
      complete_(d.make_event("frame complete", p.run.wait)) {
  for (auto& stage : slot_.stages) {
    if (stage.cpu != nullptr) stage.call = std::make_unique<stage_call>(stage, current_);
  }
}

void frame_graph::enqueue(timing_method method) {
  origin_.record(*fork_);
  for (const auto& s : streams_) s->wait(*fork_);
  for (auto& stage : slot_.stages) {
    naming_stage(plan_.stages[stage.index], "enqueueing it as part of a frame",
                 [&] { enqueue(stage, method); });
  }
  for (const auto& stage : slot_.stages) {
    // What nothing follows ends the frame; all else is done before that.
    if (plan_.stages[stage.index].followers.empty()) origin_.wait(*stage.complete);
  }
}

void frame_graph::enqueue(bound_stage& stage, timing_method method) {
  for (const event* e : stage.stream_waits) stage.on->wait(*e);
  if (stage.cpu != nullptr) {
    stage.on->call(*stage.call);
  } else {
    const bool stamped = method != timing_method::none;
    if (stamped) stage.on->stamp(*stage.begin);
    if (method == timing_method::layers && stage.parts != nullptr) {
      stage.parts->enqueue(*stage.work, *stage.on);
    } else {
      stage.work->enqueue(*stage.on);
    }
    if (stamped) stage.on->stamp(*stage.end);
  }
  if (stage.complete != nullptr) stage.on->record(*stage.complete);
}

void frame_graph::instrument(timing_method method) {
  if (executable(method) != nullptr) return;
  keep(method, device_.capture(origin_, [&] { enqueue(method); })->instantiate());
}

void frame_graph::keep(timing_method method, std::unique_ptr<graph_exec> made) {
  executable(method) = std::move(made);
}

void frame_graph::launch(timing_method method) {
  origin_.launch(*executable(method));
  origin_.record(*complete_);
}

std::unique_ptr<graph_exec>& frame_graph::executable(timing_method method) {
  switch (method) {
    case timing_method::event:
      return with_stages_;
    case timing_method::layers:
      return with_parts_;
    default:
      return clean_;
  }
}

namespace {

/// `graphs: frame`: one host thread that launches each frame's graph and waits for its end, with
/// several frames in flight when the slot is needed again. CPU stages run where the device calls
/// them.
class frame_executor final : public executor {
 public:
  explicit frame_executor(prepared_pipeline& pipeline) : pipeline_(pipeline) {}

  batch_result run(const batch& b) override {
    const kept_to_cpus kept(pipeline_.device().properties().cpus_of_host);
    const stage_runner runner(pipeline_.device(), pipeline_.planned().run.wait, *b.into);
    progress_meter meter(b);
    batch_result result;
    auto& slots = pipeline_.slots();
    const auto depth = static_cast<std::int64_t>(slots.size());
    abandoned_ = false;
    std::int64_t next = 0;
    try {
      run_frames_in_order(
          b, depth, runner.how(), result, next,
          [&](std::int64_t frame, std::optional<nanoseconds> due) {
            launch(runner, slots[static_cast<std::size_t>(frame % depth)],
                   {frame, b.first_number + frame}, due);
          },
          [&] { return oldest_ended(b, result); },
          [&] { finish_oldest(runner, b, meter, result); });
    } catch (...) {
      result.failure = describe_failure(pipeline_.planned(), at_stage_, at_frame_);
      drain();
    }
    for (auto& s : slots) s.frame->current() = {};
    return result;
  }

 private:
  void launch(const stage_runner& runner, slot& s, frame_position frame,
              std::optional<nanoseconds> due) {
    const shown_range shown(runner.on(), "frame");
    at_frame_ = frame.number;
    at_stage_.reset();
    s.frame->current() = {.runner = &runner, .frame = frame, .abandoned = &abandoned_};
    const nanoseconds begin = now();
    runner.into().frame_begun(frame.index, due, begin);
    s.frame->launch(runner.into().method());
    if (runner.into().method() != timing_method::none) {
      runner.into().frame_launched(frame.index, begin, now());
    }
  }

  bool oldest_ended(const batch& b, const batch_result& result) {
    auto& slots = pipeline_.slots();
    at_frame_ = b.first_number + result.completed;
    at_stage_.reset();
    return slots[static_cast<std::size_t>(result.completed) % slots.size()]
        .frame->complete()
        .done();
  }

  /// Throws what a CPU stage of the frame threw. Frames end in order, so those before it are told
  /// as completed by then.
  void finish_oldest(const stage_runner& runner, const batch& b, progress_meter& meter,
                     batch_result& result) {
    const frame_position frame{result.completed, b.first_number + result.completed};
    auto& slots = pipeline_.slots();
    slot& s = slots[static_cast<std::size_t>(frame.index) % slots.size()];
    at_frame_ = frame.number;
    at_stage_.reset();
    s.frame->complete().wait(runner.how());
    const nanoseconds end = now();
    if (const auto& launched = s.frame->current(); launched.problem != nullptr) {
      at_stage_ = launched.failed_stage;
      std::rethrow_exception(launched.problem);
    }
    runner.into().frame_ended(frame.index, end);
    runner.read_events(s, frame);
    ++result.completed;
    meter.frame_done(result.completed, end);
  }

  /// After a failure: what was launched beyond it runs to its end, without its CPU stages.
  void drain() {
    abandoned_ = true;
    try {
      pipeline_.device().synchronize(wait_mode::block);
    } catch (const std::exception&) {
      // The device itself has failed; `failure` already says so.
    }
  }

  prepared_pipeline& pipeline_;
  std::atomic<bool> abandoned_{false};
  std::optional<std::size_t> at_stage_;  ///< for messages: what has failed
  std::int64_t at_frame_ = 0;
};

}  // namespace

std::unique_ptr<executor> make_frame_executor(prepared_pipeline& pipeline) {
  return std::make_unique<frame_executor>(pipeline);
}

}  // namespace graphline
