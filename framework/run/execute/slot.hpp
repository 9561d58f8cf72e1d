#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
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
#include "framework/record/stage_record.hpp"
#include "framework/stage/stage.hpp"
#include "framework/stage/value_check.hpp"

namespace graphline {

/// Enqueues a stage's work; calls `after(i)` when part i has been enqueued.
/// @throws run_error if the stage does not report exactly `parts` parts
void enqueue_in_parts(device_work& work, stream& s, std::size_t parts,
                      const std::function<void(std::size_t)>& after);

/// Timed events of a device stage's parts in a slot: one before the first part, one after each.
class part_stamps {
 public:
  /// @param stage Prefix of the events' names.
  part_stamps(device& d, const std::string& stage, std::size_t parts);

  /// Enqueues the stage's work with a stamp at each boundary. Works with and without capture.
  /// @throws run_error if the stage reports more or fewer parts than it has
  void enqueue(device_work& work, stream& s);

  /// Returns the events, one more than there are parts.
  const std::vector<std::unique_ptr<timed_event>>& boundaries() const noexcept {
    return boundaries_;
  }

 private:
  std::vector<std::unique_ptr<timed_event>> boundaries_;
};

/// Host function that stores the host time of its last call.
class host_stamp final : public host_function {
 public:
  std::string_view name() const noexcept override { return "host stamp"; }
  void call() noexcept override { at_ = now(); }

  /// @pre The host has seen a later operation of the stream complete.
  nanoseconds at() const noexcept { return at_; }

 private:
  nanoseconds at_ = 0;
};

class frame_graph;

/// A device stage bound to the tensors of a slot, for one bucket of rows. The executables are
/// declared after the events that they stamp, to be destroyed first.
struct bound_variant {
  std::unique_ptr<device_work> work;
  value_check* check = nullptr;  ///< of `work`; null if it checks no values
  std::size_t bucket = 0;
  std::unique_ptr<part_stamps> parts;      ///< null without parts or before `layers` is prepared
  std::unique_ptr<graph_exec> executable;  ///< with `graphs: stage`
  std::unique_ptr<graph_exec> executable_in_parts;  ///< executable that stamps `parts`
};

struct bound_stage;

/// What decides how much of a stage runs in a frame. Pointers stay in the slot.
struct stage_decision {
  /// A tensor that the stage reads if the first one is missing.
  struct alternative {
    std::size_t input = 0;
    const bound_stage* first = nullptr;   ///< producer of the input
    const bound_stage* second = nullptr;  ///< producer of the alternative; null for an input
    const_tensor_view from_first;
    const_tensor_view from_second;
  };

  std::string rows_name;                   ///< for messages
  const std::int64_t* rows = nullptr;      ///< in host memory; null without `rows`
  const std::int64_t* when = nullptr;      ///< in host memory; null without `when`
  std::vector<const bound_stage*> needed;  ///< conditional stages whose outputs it reads
  std::vector<alternative> alternatives;
  std::int64_t capacity = 0;
  std::vector<std::int64_t> buckets;    ///< of a device stage with `rows`
  std::vector<std::size_t> row_inputs;  ///< of a CPU stage with `rows`
  std::vector<std::size_t> row_outputs;
};

/// How much of a stage runs in a frame.
struct frame_choice {
  std::int32_t rows = 1;    ///< as recorded: rows found, 0, or `skipped`
  std::size_t variant = 0;  ///< of a device stage
  nanoseconds at = 0;       ///< host time of the decision, of a stage that does not run
};

/// A stage bound to the memory, events and graph of a slot.
struct bound_stage {
  std::size_t index = 0;       ///< in the plan
  const char* name = nullptr;  ///< owned by the plan
  const stage_label* label = nullptr;
  std::vector<const_tensor_view> inputs;
  std::vector<tensor_view> outputs;

  // CPU stages.
  cpu_stage* cpu = nullptr;          ///< null for a device stage
  awaiting_stage* awaits = nullptr;  ///< `cpu`, if it is one
  cpu_call arguments = {};           ///< tensors; `frame` is set before each call
  std::vector<std::string> guarded;  ///< output names with `guard: on`

  std::unique_ptr<host_function> call;  ///< host node in a frame's graph, or null

  // Stages on a stream: device stages and, in a frame's graph, CPU stages.
  stream* on = nullptr;
  std::vector<const event*> stream_waits;  ///< completion events of stages on other streams
  std::unique_ptr<event> complete;         ///< null if nothing waits for the stage

  // Device stages.
  device* placed_on = nullptr;
  std::size_t device_index = 0;         ///< in the plan
  std::vector<bound_variant> variants;  ///< by bucket; then again by bucket, with the alternative
  std::unique_ptr<timed_event> begin;   ///< for `event` and `layers`
  std::unique_ptr<timed_event> end;
  std::unique_ptr<host_stamp> called_begin = std::make_unique<host_stamp>();  ///< for `callback`
  std::unique_ptr<host_stamp> called_end = std::make_unique<host_stamp>();

  std::unique_ptr<stage_decision> decision;  ///< null for a stage that runs whole in every frame
  frame_choice chosen;                       ///< of the frame in the slot
  std::string problem;                       ///< of a frame of the phase; see `value_check`
  std::uint32_t* selector =
      nullptr;  ///< of the stage's switch in a frame's graph, in pinned memory

  bound_variant& variant() noexcept { return variants[chosen.variant]; }

  /// Returns the index of the variant that computes all rows.
  std::size_t whole() const noexcept {
    return decision == nullptr || decision->buckets.empty() ? 0 : decision->buckets.size() - 1;
  }
  bool skipped() const noexcept { return chosen.rows <= 0; }

  /// Returns true if the stage computes rows that the frame does not have, whose values are
  /// undefined.
  bool computes_further_rows() const noexcept {
    return decision != nullptr && !decision->buckets.empty() &&
           chosen.rows < decision->buckets[variants[chosen.variant].bucket];
  }

  /// Decides how much of the stage runs in the slot's frame. The stages and copies that it waits
  /// for have returned or completed.
  /// @throws run_error if a number of rows is negative
  void decide();

  void launch() {
    bound_variant& of = variant();
    if (of.executable != nullptr) {
      on->launch(*of.executable);
    } else {
      of.work->enqueue(*on);
    }
  }

  /// Launches with stamps around the parts, if the stage has parts.
  void launch_in_parts() {
    bound_variant& of = variant();
    if (of.parts == nullptr) {
      launch();
    } else if (of.executable_in_parts != nullptr) {
      on->launch(*of.executable_in_parts);
    } else {
      of.parts->enqueue(*of.work, *on);
    }
  }
};

/// Buffers, graph executables and events of one frame in flight.
struct slot {
  std::vector<memory> device_blocks;  ///< by device
  memory pinned_block;
  memory selectors;                    ///< pinned; with `graphs: frame`
  std::vector<bound_stage> stages;     ///< in the plan's order
  std::vector<std::size_t> checked;    ///< device stages whose work is a `value_check`
  std::unique_ptr<frame_graph> frame;  ///< with `graphs: frame`

  slot();
  slot(slot&&) noexcept;
  ~slot();
};

inline const stage_label* label_of(const planned_stage& stage) {
  return stage_label_of(stage.name, stage.kind->name, stage.kind->origin);
}

/// Runs `work`. Prefixes its exceptions with the stage's place in the file, its name, and `what`.
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
