#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) {
  const auto where = stage ? fmt::format("stage '{}', frame {}", p.stages[*stage].name, frame)
                           : fmt::format("frame {}", frame);
  try {
    throw;
  } catch (const std::exception& e) {
    return fmt::format("{}: {}", where, reason_of(e));
  } catch (...) {
    return fmt::format("{}: an exception that is no std::exception", where);
  }
}

namespace {

/// `serial` and `async`: one host thread that goes through the stages in planned order. `serial`
/// waits for each device stage before going on; `async` only where a CPU stage reads a device
/// result, and at the end of the frame or, with several frames in flight, when its slot is needed
/// again.
class sequential_executor final : public executor {
 public:
  explicit sequential_executor(prepared_pipeline& pipeline)
      : pipeline_(pipeline),
        waits_each_stage_(pipeline.planned().run.strategy == strategy::serial) {
    const auto& stages = pipeline_.planned().stages;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].on == side::device && stages[i].followers.empty()) last_.push_back(i);
    }
  }

  batch_result run(const batch& b) override {
    const kept_to_cpus kept(pipeline_.device().properties().cpus_of_host);
    const stage_runner runner(pipeline_.device(), pipeline_.planned().run.wait, *b.into);
    progress_meter meter(b);
    batch_result result;
    auto& slots = pipeline_.slots();
    const auto depth = static_cast<std::int64_t>(slots.size());
    std::int64_t next = 0;
    try {
      run_frames_in_order(
          b, depth, runner.how(), result, next,
          [&](std::int64_t frame, std::optional<nanoseconds> due) {
            begin_frame(runner, slots[static_cast<std::size_t>(frame % depth)],
                        {frame, b.first_number + frame}, due);
          },
          [&] { return oldest_ended(b, result); },
          [&] { finish_oldest(runner, b, meter, result); });
    } catch (...) {
      result.failure = describe_failure(pipeline_.planned(), at_stage_, at_frame_);
      drain(runner, b, meter, result, next);
    }
    return result;
  }

 private:
  void begin_frame(const stage_runner& runner, slot& s, frame_position frame,
                   std::optional<nanoseconds> due) {
    const shown_range shown(runner.on(), "frame");
    at_frame_ = frame.number;
    runner.into().frame_begun(frame.index, due, now());
    for (auto& stage : s.stages) {
      at_stage_ = stage.index;
      if (stage.cpu != nullptr) {
        for (const event* e : stage.completions) e->wait(runner.how());
        runner.run_on_cpu(stage, frame);
      } else {
        runner.enqueue(stage, frame);
        if (waits_each_stage_) stage.complete->wait(runner.how());
      }
    }
  }

  bool oldest_ended(const batch& b, const batch_result& result) {
    auto& slots = pipeline_.slots();
    const slot& s = slots[static_cast<std::size_t>(result.completed) % slots.size()];
    at_frame_ = b.first_number + result.completed;
    return std::all_of(last_.begin(), last_.end(), [&](std::size_t index) {
      at_stage_ = index;
      return s.stages[index].complete->done();
    });
  }

  void finish_oldest(const stage_runner& runner, const batch& b, progress_meter& meter,
                     batch_result& result) {
    const frame_position frame{result.completed, b.first_number + result.completed};
    auto& slots = pipeline_.slots();
    slot& s = slots[static_cast<std::size_t>(frame.index) % slots.size()];
    at_frame_ = frame.number;
    for (const std::size_t index : last_) {
      at_stage_ = index;
      s.stages[index].complete->wait(runner.how());
    }
    const nanoseconds end = now();
    runner.into().frame_ended(frame.index, end);
    at_stage_.reset();
    runner.read_events(s, frame);
    ++result.completed;
    meter.frame_done(result.completed, end);
  }

  /// After a failure: frames begun before the failed one may still be complete.
  void drain(const stage_runner& runner, const batch& b, progress_meter& meter,
             batch_result& result, std::int64_t failed) {
    try {
      pipeline_.device().synchronize(wait_mode::block);
      while (result.completed < failed) finish_oldest(runner, b, meter, result);
    } catch (const std::exception&) {
      // The device itself has failed; `failure` already says so.
    }
  }

  prepared_pipeline& pipeline_;
  bool waits_each_stage_;
  std::vector<std::size_t> last_;        ///< device stages that nothing follows: they end the frame
  std::optional<std::size_t> at_stage_;  ///< for messages: what is carried out or waited for
  std::int64_t at_frame_ = 0;
};

}  // namespace

std::unique_ptr<executor> make_sequential_executor(prepared_pipeline& pipeline) {
  return std::make_unique<sequential_executor>(pipeline);
}

}  // namespace graphline
