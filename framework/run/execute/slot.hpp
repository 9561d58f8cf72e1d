#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// Enqueues a stage's work and calls `after` with the index of each of its `parts` once that is
/// enqueued; of a stage without parts nothing is asked. Throws `run_error` when it tells of more or
/// fewer parts than it has.
void enqueue_in_parts(device_work& work, stream& s, std::size_t parts,
                      const std::function<void(std::size_t)>& after);

/// The timed events of one slot around the parts of a device stage: one before the first and one
/// after each.
class part_stamps {
 public:
  /// `stage` names the events.
  part_stamps(device& d, const std::string& stage, std::size_t parts);

  /// Enqueues the stage's work with a stamp at each boundary, in a capture or not. Throws
  /// `run_error` when the stage tells of more or fewer parts than it has.
  void enqueue(device_work& work, stream& s);

  /// Parts + 1 of them.
  const std::vector<std::unique_ptr<timed_event>>& boundaries() const noexcept {
    return boundaries_;
  }

 private:
  std::vector<std::unique_ptr<timed_event>> boundaries_;
};

/// Keeps when the device last came to it in a stream, by the host's clock.
class host_stamp final : public host_function {
 public:
  std::string_view name() const noexcept override { return "host stamp"; }
  void call() noexcept override { at_ = now(); }

  /// Once something after it in the stream is seen complete.
  nanoseconds at() const noexcept { return at_; }

 private:
  nanoseconds at_ = 0;
};

class frame_graph;

/// A stage bound to the memory, events and graph of one slot: all that carrying it out once needs.
struct bound_stage {
  std::size_t index = 0;       ///< of the stage in the plan
  const char* name = nullptr;  ///< the plan's
  const stage_label* label = nullptr;
  std::vector<const_tensor_view> inputs;
  std::vector<tensor_view> outputs;

  // A CPU stage.
  cpu_stage* cpu = nullptr;             ///< null for a device stage
  std::vector<std::string> guarded;     ///< names of its outputs with `guard: on`; or empty
  std::unique_ptr<host_function> call;  ///< runs it in a frame's graph; null without one

  // A stage of a stream: a device stage, and in a frame's graph a CPU stage too.
  stream* on = nullptr;
  std::vector<const event*> stream_waits;  ///< ends of stages on other streams
  std::unique_ptr<event> complete;         ///< null when nobody waits for this stage by event

  // A device stage. Executables go before the events that they stamp.
  std::unique_ptr<device_work> work;
  std::unique_ptr<timed_event> begin;  ///< both for the methods `event` and `layers`
  std::unique_ptr<timed_event> end;
  std::unique_ptr<host_stamp> called_begin = std::make_unique<host_stamp>();  ///< for `callback`
  std::unique_ptr<host_stamp> called_end = std::make_unique<host_stamp>();
  std::unique_ptr<part_stamps> parts;               ///< null before `layers`, and without parts
  std::unique_ptr<graph_exec> executable;           ///< with `graphs: stage`
  std::unique_ptr<graph_exec> executable_in_parts;  ///< the same that stamps `parts`

  void launch() {
    if (executable != nullptr) {
      on->launch(*executable);
    } else {
      work->enqueue(*on);
    }
  }

  /// With stamps around the parts; as `launch` for a stage that has none.
  void launch_in_parts() {
    if (parts == nullptr) {
      launch();
    } else if (executable_in_parts != nullptr) {
      on->launch(*executable_in_parts);
    } else {
      parts->enqueue(*work, *on);
    }
  }
};

/// The buffers, graph executables and events of one frame in flight.
struct slot {
  memory device_block;
  memory pinned_block;
  std::vector<bound_stage> stages;     ///< as in the plan
  std::unique_ptr<frame_graph> frame;  ///< with `graphs: frame`

  slot();
  slot(slot&&) noexcept;
  ~slot();
};

/// The label of a planned stage.
inline const stage_label* label_of(const planned_stage& stage) {
  return stage_label_of(stage.name, stage.kind->name, stage.kind->origin);
}

/// Runs `work` and puts the stage's place, its name and what was being done in front of what it
/// throws.
template <class Work>
auto with_stage_context(const planned_stage& stage, const char* what, Work&& work) {
  const auto named = [&](std::string_view why) {
    const place& at = stage.config.arguments.where();
    const auto line = at.line > 0 ? fmt::format("{}:{}: ", at.source->name(), at.line) : "";
    return fmt::format("{}{}: {}: {}", line, to_string(*label_of(stage)), what, why);
  };
  const stage_scope scope({label_of(stage), stage_point::getting_ready});
  try {
    return work();
  } catch (const error& e) {
    throw error(e.status(), named(e.what()));
  } catch (...) {
    throw run_error(named(reason_of_caught()));
  }
}

}  // namespace graphline
