#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/spec/arrival_trace.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/policy.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A fixed-size bitset; a union processes 64 elements per word.
class bit_set {
 public:
  bit_set() = default;
  explicit bit_set(std::size_t size, bool all = false)
      : words_((size + 63) / 64, all ? ~std::uint64_t{0} : std::uint64_t{0}) {}

  bool operator[](std::size_t i) const noexcept { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
  void set(std::size_t i) noexcept { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

  // Both operands have the same size.
  bit_set& operator|=(const bit_set& other) noexcept {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  bit_set& operator&=(const bit_set& other) noexcept {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// An edge, stored with the later of its two stages.
struct dependency {
  std::size_t stage;  ///< index of the earlier stage
  satisfied_by how;
  std::vector<std::size_t> tensors;  ///< tensors that the later stage reads; empty for `after:`
  bool decides = false;  ///< the host reads `rows` or `when` before it issues the later stage
};

struct planned_tensor {
  std::string name;
  tensor_type type;
  side on = side::device;
  std::size_t device = 0;  ///< of a tensor on a device: index in the plan's devices
  tensor_layout layout = tensor_layout::row_major;
  bool input = false;  ///< filled before the first frame and shared by all slots
  graphline::fill fill = graphline::fill::normal;  ///< how an input is filled
  std::string file;                    ///< file that fills an input; empty to use `fill`
  std::size_t producer = 0;            ///< index of a stage; unused for an input
  std::vector<std::size_t> consumers;  ///< stages that read the tensor, ascending
  bool output() const noexcept { return consumers.empty() && !input; }
};

/// A tensor that a stage reads in a frame in which the producer of one of its inputs was skipped.
struct alternative_read {
  std::size_t input = 0;   ///< index in `planned_stage::reads`
  std::size_t tensor = 0;  ///< of the same type and on the same side
};

/// A number of rows for which a device stage is prepared.
struct planned_bucket {
  std::int64_t rows = 0;
  std::shared_ptr<const prepared_stage> prepared;
};

/// A device that the pipeline uses.
struct planned_device {
  std::string name = {};     ///< in the pipeline; empty for the one that the program opens
  std::string request = {};  ///< as for --device; empty likewise
  std::string backend = {};  ///< empty: unknown; the plan is only inspected
  std::int64_t threads = 0;  ///< compute threads of a `host` device; 0: the default
  bool present = true;       ///< in this machine, as far as known
  /// By device: why tensors of the two go through the CPU; empty if they are copied directly, and
  /// waits need no host.
  std::vector<std::string> apart = {""};

  bool exchanges_with(std::size_t other) const noexcept { return apart[other].empty(); }
};

struct planned_stage {
  std::string name;
  const stage_kind* kind = nullptr;
  stage_config config;
  std::shared_ptr<const prepared_stage> prepared;
  int rank = 0;                         ///< declared; see `plan::ranks`
  side on = side::device;               ///< copies are device stages
  std::size_t device = 0;               ///< of a device stage: index in the plan's devices
  bool inserted = false;                ///< a copy that the planner inserted
  std::vector<std::size_t> reads;       ///< tensor indices
  std::vector<std::size_t> writes;      ///< tensor indices
  std::optional<std::size_t> rows;      ///< tensor on the CPU with the number of rows; empty: all
  std::vector<std::size_t> row_reads;   ///< indices in `reads` of inputs with rows
  std::vector<std::size_t> row_writes;  ///< indices in `writes` of outputs with rows
  std::int64_t capacity = 0;            ///< most rows; 0 without `rows`
  /// Device stage with `rows`: ascending; the last is the capacity.
  std::vector<planned_bucket> buckets;
  std::optional<std::size_t> when;  ///< tensor on the CPU; zero skips the stage
  std::vector<alternative_read> otherwise;
  bool conditional = false;       ///< may be skipped: by `when`, or with the producer of an input
  std::vector<dependency> waits;  ///< one per earlier stage, in ascending order
  std::vector<std::size_t> followers;  ///< stages that wait for this one, ascending
  graphline::priority priority = graphline::priority::normal;  ///< of the stream
  int level = 0;                                               ///< declared priority
  std::optional<nanoseconds> deadline = {};                    ///< after the frame's due time
  cpu_set cores;           ///< of a CPU stage; if empty, it runs on any
  std::size_t stream = 0;  ///< index into `streams`; CPU stages have one only in a frame's graph
  /// True if an event is recorded after the stage for another stream, a CPU stage or the end of the
  /// frame.
  bool signals = false;
  /// True if the host waits for this device stage: for a CPU stage, as a step of the schedule, or
  /// because no stage follows. False in a frame's graph, where the host waits for the whole frame.
  bool host_waits = false;

  /// Returns true if the host decides for each frame how much of the stage runs.
  bool decided_per_frame() const noexcept { return rows || conditional || !otherwise.empty(); }
};

struct planned_stream {
  std::string name;
  graphline::priority priority = graphline::priority::normal;
  bool copies = false;  ///< used only for copies, inserted or declared
  bool calls = false;   ///< used only for CPU stages, as host nodes of a frame's graph
  std::size_t device = 0;
};

/// Returns what a stage's factory needs to make it for a number of rows.
stage_config config_for_rows(const planned_stage& stage, std::int64_t rows);

/// The order of ready stages where stages start when ready.
struct planned_policy {
  const policy_kind* kind = nullptr;  ///< null for `oldest_frame`, and where stages are in order
  graphline::arguments arguments = {};
};

/// What one rank sends to another in every frame.
struct rank_transfer {
  std::string name;     ///< of the tensor or, for a signal, of the stage that is done
  bool signal = false;  ///< for `after`; has no tensor
  tensor_type type = {};
  int from = 0;
  int to = 0;
};

/// A validated, ordered pipeline with its settings.
struct plan {
  std::string pipeline;
  std::string description;
  std::shared_ptr<const source_text> source;  ///< the pipeline's file; null for a spec made in C++
  std::vector<std::pair<std::string, std::string>> parameters;
  /// Path and checksum of each file that the plan reads; empty unless computed.
  std::vector<std::pair<std::string, std::string>> files = {};
  settings run;
  std::shared_ptr<const arrival_trace> arrivals = {};  ///< of `arrival: trace`, else null
  int ranks = 1;  ///< on which stages are declared; a plan for one process has 1
  std::vector<rank_transfer> transfers = {};  ///< in the same order on all ranks
  std::vector<planned_device> devices{1};     ///< at least one
  std::vector<planned_tensor> tensors;
  std::vector<planned_stage> stages;  ///< in an order that satisfies every edge
  std::vector<planned_stream> streams;
  graphline::schedule schedule;
  planned_policy policy;
  /// reach[a][b]: stage b waits for stage a, directly or through other stages.
  std::vector<bit_set> reach;
};

/// Returns true if frames or a stage have a deadline.
/// @param p A `plan` or a `pipeline_spec`.
template <class Pipeline>
bool has_deadline(const Pipeline& p) {
  return p.run.deadline || std::ranges::any_of(p.stages, [](const auto& stage) {
           return stage.deadline.has_value();
         });
}

/// Returns true if the number of issued device stages is limited.
inline bool has_window(const plan& p) noexcept {
  return p.run.window > 0 && !p.schedule.properties.in_order && !p.schedule.properties.one_launch;
}

/// Returns true if the stage counts in the window.
inline bool in_window(const planned_stage& stage) noexcept {
  return stage.on == side::device && !stage.kind->moves;
}

/// Returns true if the stage copies from another device. It is not captured, because a graph
/// belongs to one device.
inline bool copies_from_peer(const plan& p, const planned_stage& stage) {
  return stage.on == side::device && std::ranges::any_of(stage.reads, [&](std::size_t t) {
           return p.tensors[t].on == side::device && p.tensors[t].device != stage.device;
         });
}

/// Returns how many of these frames arrive: with a trace, at most those that it makes due.
inline std::int64_t frames_that_arrive(const plan& p, std::int64_t frames) noexcept {
  if (p.arrivals == nullptr) return frames;
  return std::min(frames, p.run.burst * static_cast<std::int64_t>(p.arrivals->due.size()));
}

/// Returns why only a device with `device_properties::selects` can run the plan; empty if others
/// can, too.
std::optional<std::string> why_only_selecting(const plan& p);

}  // namespace graphline
