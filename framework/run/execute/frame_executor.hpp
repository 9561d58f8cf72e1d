#pragma once

#include <atomic>
#include <exception>
#include <utility>

#include "framework/base/stage_activity.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/in_order_executor.hpp"

namespace graphline {

/// Launches one graph per frame. CPU stages run as host nodes.
template <class Host>
class frame_executor final : public in_order_executor<Host> {
  using base = in_order_executor<Host>;
  using base::at_stage_;
  using base::host_;
  using base::pipeline_;
  using base::runner_;

 public:
  template <class... World>
  explicit frame_executor(prepared_pipeline& pipeline, World&&... world)
      : base(pipeline, std::forward<World>(world)...) {}

  phase_result run(phase& b) override {
    abandoned_ = false;
    auto result = base::run(b);
    for (auto& s : pipeline_.slots()) s.frame->current() = {};
    return result;
  }

 private:
  void execute(slot& s, const frame_position& frame, nanoseconds begun) override {
    const stage_scope scope({nullptr, frame.number});  // the graph's nodes set the stage
    host_.launch(*s.frame, frame, abandoned_);
    if (runner_->into().method() != timing_method::none) {
      runner_->into().frame_launched(frame.index, begun, host_.now());
    }
  }

  bool has_ended(const slot& s) override { return s.frame->complete().done(); }

  /// Because frames end in order, all frames before the failed one are complete.
  void wait_for_end(slot& s) override {
    host_.await(s.frame->complete());
    if (const auto& launched = s.frame->current(); launched.problem != nullptr) {
      at_stage_ = launched.failed_stage;
      std::rethrow_exception(launched.problem);
    }
  }

  /// Frames launched after the failed one run without their CPU stages.
  void drain() override {
    abandoned_ = true;
    pipeline_.devices().synchronize(wait_mode::block);
  }

  std::atomic<bool> abandoned_{false};
};

}  // namespace graphline
