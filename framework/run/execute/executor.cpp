#include "framework/run/execute/executor.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>

#include "framework/base/error.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"
#include "framework/run/execute/real_host.hpp"
#include "framework/run/execute/slot.hpp"

namespace graphline {

std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) {
  try {
    throw;
  } catch (const stage_failure& e) {
    return e.what();  // `stage` may only have waited for that one
  } catch (...) {
    const auto where = stage ? to_string(stage_point{label_of(p.stages[*stage]), frame})
                             : fmt::format("frame {}", frame);
    return fmt::format("{}: {}", where, reason_of_caught());
  }
}

namespace {

/// `graphs: frame`: launches each frame's graph. CPU stages run where the device calls them.
class frame_executor final : public in_order_executor<real_host> {
 public:
  explicit frame_executor(prepared_pipeline& pipeline) : in_order_executor(pipeline) {}

  batch_result run(const batch& b) override {
    abandoned_ = false;
    auto result = in_order_executor::run(b);
    for (auto& s : pipeline_.slots()) s.frame->current() = {};
    return result;
  }

 private:
  void carry_out(slot& s, frame_position frame, nanoseconds begun) override {
    s.frame->current() = {.runner = runner_, .frame = frame, .abandoned = &abandoned_};
    const timing_method method = runner_->into().method();
    s.frame->launch(method);
    if (method != timing_method::none) runner_->into().frame_launched(frame.index, begun, now());
  }

  bool has_ended(const slot& s) override { return s.frame->complete().done(); }

  /// Frames end in order, so those before one that failed are told as completed by then.
  void wait_for_end(slot& s) override {
    s.frame->complete().wait(runner_->how());
    if (const auto& launched = s.frame->current(); launched.problem != nullptr) {
      at_stage_ = launched.failed_stage;
      std::rethrow_exception(launched.problem);
    }
  }

  /// What was launched beyond the failed frame runs to its end, without its CPU stages.
  void drain() override {
    abandoned_ = true;
    pipeline_.device().synchronize(wait_mode::block);
  }

  std::atomic<bool> abandoned_{false};
};

}  // namespace

std::unique_ptr<executor> make_executor(prepared_pipeline& pipeline) {
  const schedule_properties& of = pipeline.planned().schedule.properties;
  if (of.one_launch) return std::make_unique<frame_executor>(pipeline);
  if (of.in_order) return std::make_unique<sequential_executor<real_host>>(pipeline);
  return std::make_unique<ready_executor<real_host>>(pipeline);
}

}  // namespace graphline
