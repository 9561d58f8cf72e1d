#pragma once

// The planner's working state, for this folder only. Each step reports its errors and continues
// with the parts that have none, so that one call reports every error once.

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/plan/planner.hpp"
#include "framework/plan/prepared_stages.hpp"

namespace graphline::planning {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);

struct draft_tensor {
  std::string name;
  place where;
  const input_spec* input = nullptr;       ///< null for a tensor that a stage writes
  std::size_t producer = none;             ///< stage, by its index in the spec; none for an input
  std::vector<std::size_t> readers = {};   ///< stages, by their index in the spec, ascending
  std::vector<std::size_t> deciders = {};  ///< stages whose `rows` or `when` it is, ascending
  std::optional<tensor_type> type = {};    ///< empty if unknown or wrong
  side on = side::device;
  std::size_t device = 0;
  std::size_t rows = none;  ///< tensor with the number of its rows in a frame; none if it is whole
};

/// A dependency on an earlier stage, and where the pipeline states it.
struct draft_link {
  std::size_t earlier;        ///< index in the spec
  std::size_t tensor = none;  ///< none for `after`
  place where;
};

struct draft_stage {
  const stage_spec* spec = nullptr;
  const stage_kind* kind = nullptr;
  std::size_t device = 0;  ///< of a device stage
  graphline::arguments arguments;
  std::shared_ptr<const prepared_stage> prepared;  ///< null if not prepared
  std::optional<stage_ports> ports;                ///< empty if unknown
  std::vector<named> read_names;          ///< in the order of the ports, if these are known
  std::vector<named> write_names;         ///< in the order of the ports, if these are known
  std::vector<std::size_t> reads;         ///< tensor indices; none where unknown
  std::vector<std::size_t> writes;        ///< tensor indices; none where the name was taken
  std::size_t rows = none;                ///< tensor that `rows` names
  std::size_t when = none;                ///< tensor that `when` names
  std::vector<std::size_t> alternatives;  ///< tensors that `otherwise` names; none where unknown
  std::vector<alternative_read> otherwise;
  std::vector<std::size_t> row_reads;  ///< as in `planned_stage`; also the next three
  std::vector<std::size_t> row_writes;
  std::int64_t capacity = 0;
  std::vector<planned_bucket> buckets;
  /// Conditions, ascending, all of which a frame must meet to run the stage. Each is a tensor of
  /// `when`, or a number beyond the tensors for a stage that runs if one of two tensors is there.
  std::vector<std::size_t> guards;
  std::vector<draft_link> links;
  bool sound = true;  ///< no error so far
};

/// A pipeline that is being planned. Stages are in declared order. Inputs precede other tensors.
struct draft {
  const pipeline_spec& spec;
  const stage_registry& registry;
  const plan_target& target;
  prepared_stages& prepared;
  diagnostics& out;

  std::vector<planned_device> devices = {};
  std::vector<plan_target> machines = {};  ///< by device
  std::string missing = {};                ///< message about a device that is needed and not there
  std::vector<draft_tensor> tensors = {};
  std::vector<draft_stage> stages = {};
  std::unordered_map<std::string_view, std::size_t> stage_named = {};
  std::unordered_map<std::string, std::size_t> tensor_named = {};
  std::vector<std::size_t> order = {};  ///< stages in an order that satisfies every link
  planned_policy policy = {};

  void error(draft_stage& stage, const place& where, std::string message) {
    stage.sound = false;
    out.error(where, std::move(message));
  }
};

/// Finds the devices that the pipeline declares; without any, the one to plan for.
void resolve_devices(draft& d);

/// Finds the device of a stage and whether its kind can run there.
/// @pre its kind is known
void choose_device(draft& d, draft_stage& stage);

/// Resolves the name and parameters of the policy.
void resolve_policy(draft& d);

/// Resolves the names, kinds and arguments of all stages.
void resolve_kinds(draft& d);

/// Assigns the names that stages read and write to their ports.
void resolve_ports(draft& d);

void declare_tensors(draft& d);

/// Turns reads and `after` into links to earlier stages.
void resolve_links(draft& d);

/// Fills `order` with the declared order, changed where links require it. Stages of a cycle are
/// unsound.
void put_in_order(draft& d);

/// Chooses the side of each tensor.
void choose_sides(draft& d);

/// Returns the side on which a stage reads; for a declared copy, the side of its input tensor.
side reading_side(const draft& d, const draft_stage& stage);

/// Where a tensor is: on the CPU or on a device.
struct tensor_place {
  side on = side::cpu;
  std::size_t device = 0;  ///< 0 on the CPU

  friend auto operator<=>(const tensor_place&, const tensor_place&) = default;
};

tensor_place place_of(const draft_tensor& tensor);

/// Returns where a stage reads its tensors.
tensor_place reading_place(const draft& d, const draft_stage& stage);

/// Prepares the stages whose input types are known, and so finds the types of their outputs.
void prepare_stages(draft& d);

/// Decides what of a stage depends on the frame: its guards, alternatives, rows and buckets. Stages
/// before it in `order` are settled.
/// @param inputs types of what it reads
void settle_decisions(draft& d, draft_stage& stage, const std::vector<tensor_type>& inputs);

/// Prepares a stage for each of `buckets`, ascending; `whole` is the stage prepared for the last.
/// @return empty after an error
std::optional<std::vector<planned_bucket>> prepare_buckets(
    draft& d, const stage_kind& kind, const std::string& name, const arguments& given,
    const std::vector<tensor_type>& inputs, const std::vector<std::size_t>& row_reads,
    const std::vector<std::size_t>& row_writes, const std::shared_ptr<const prepared_stage>& whole,
    const std::vector<std::int64_t>& buckets);

/// Returns the reason that a kind cannot run on a backend; empty if it can.
std::optional<std::string> missing_factory(const stage_kind& kind, const std::string& backend);

/// Makes the plan's stages, tensors, inserted copies and edges, except `dependency::how`. Reports
/// an error if no kind can make a copy.
/// @pre the draft has no errors
plan assemble(draft& d);

/// Distributes device stages over streams; fills `stream` and `streams`.
void assign_streams(plan& p);

/// Warns if the setting `streams` has no effect, or lets stages of different priorities share one.
void warn_of_streams(const plan& p, const place& where, diagnostics& out);

/// Distributes CPU stages over separate streams, for a frame's graph.
void assign_call_streams(plan& p);

/// Decides how edges are satisfied, which stages record events and which the host waits for. Fills
/// `reach`.
void settle_edges(plan& p);

/// Chooses channels-last layout, and the element type of a stage's precision, for tensors whose
/// stages all accept them. Inputs and outputs of the pipeline stay row-major float32.
void choose_forms(plan& p);

/// Reports a tensor that alone exceeds memory.
/// @return whether it fits
bool check_size(const draft& d, const draft_tensor& tensor, const tensor_type& type);

/// Reports a plan that needs more memory than there is.
void check_memory(const draft& d, const plan& p);

/// Returns " (line 12)"; empty for a spec made in C++.
std::string on_line(const place& where);

/// Adds `found` to `out`.
/// @return whether `found` has no errors
bool forward(const diagnostics& found, diagnostics& out);

}  // namespace graphline::planning
