#pragma once

// The planner's working state, from names to a plan; not for use outside this folder. Each step
// below reports what it finds and goes on with what is sound, so that one call shows every problem
// and none twice.

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

/// In place of an index: nothing of that name.
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

struct draft_tensor {
  std::string name;
  place where;
  const input_spec* input = nullptr;      ///< unset for what a stage writes
  std::size_t producer = none;            ///< stage, by its index in the spec; none for an input
  std::vector<std::size_t> readers = {};  ///< stages, by their index in the spec, ascending
  std::optional<tensor_type> type = {};   ///< unset: not known, or unsound
  side on = side::device;
};

/// Why a stage must come later than another, and where that was written.
struct draft_link {
  std::size_t earlier;        ///< index in the spec
  std::size_t tensor = none;  ///< none: by `after`
  place where;
};

struct draft_stage {
  const stage_spec* spec = nullptr;
  const stage_kind* kind = nullptr;
  graphline::arguments arguments;
  std::shared_ptr<const prepared_stage> prepared;  ///< null: not known, or unsound
  std::optional<stage_ports> ports;                ///< unset: not known
  std::vector<named> read_names;    ///< in the order of its ports, where these are known
  std::vector<named> write_names;   ///< likewise
  std::vector<std::size_t> reads;   ///< tensor indices; none where unknown
  std::vector<std::size_t> writes;  ///< tensor indices; none where the name was taken
  std::vector<draft_link> links;
  bool sound = true;  ///< nothing was wrong with it so far
};

/// A pipeline on its way to being a plan. Stages stand in declared order, inputs before other
/// tensors.
struct draft {
  const pipeline_spec& spec;
  const stage_registry& registry;
  const plan_target& target;
  prepared_stages& prepared;
  diagnostics& out;

  std::vector<draft_tensor> tensors = {};
  std::vector<draft_stage> stages = {};
  std::unordered_map<std::string_view, std::size_t> stage_named = {};
  std::unordered_map<std::string, std::size_t> tensor_named = {};
  std::vector<std::size_t> order = {};  ///< stages so that every link is satisfied

  void error(draft_stage& stage, const place& where, std::string message) {
    stage.sound = false;
    out.error(where, std::move(message));
  }
};

/// Names, kinds and arguments of all stages.
void resolve_kinds(draft& d);

/// What each stage reads and writes at each of its ports.
void resolve_ports(draft& d);

/// Inputs and everything written, under their names.
void declare_tensors(draft& d);

/// Reads and `after`, as links to earlier stages.
void resolve_links(draft& d);

/// Fills `order`: the declared order wherever links allow. Stages of a cycle become unsound.
void put_in_order(draft& d);

/// Decides where each tensor lives.
void choose_sides(draft& d);

/// The side on which a stage reads: of a kind that moves, wherever its tensor is.
side reading_side(const draft& d, const draft_stage& stage);

/// Prepares all stages that nothing unsound stands before, which gives the types of their outputs.
void prepare_stages(draft& d);

/// Whether a kind can work on the backend planned for; if not, what it lacks.
std::optional<std::string> missing_factory(const stage_kind& kind, const std::string& backend);

/// Stages in order with tensors, inserted copies and edges (their `how` is still open). Needs a
/// draft without errors; a copy that cannot be made is an error then.
plan assemble(draft& d);

/// Distributes device stages over streams; fills `stream` and `streams`.
void assign_streams(plan& p);

/// Distributes CPU stages over streams of their own, for a frame's graph.
void assign_call_streams(plan& p);

/// Says how each edge is satisfied, who signals, whom the host awaits, and who reaches whom.
void settle_edges(plan& p);

/// Lets a tensor be channels last, and have elements of a stage's precision, where both ends take
/// it so; an input or output of the pipeline stays as everybody outside knows it.
void choose_forms(plan& p, const std::string& backend);

/// Refuses a tensor that cannot fit by itself: false, after an error at its place.
bool check_size(const draft& d, const draft_tensor& tensor, const tensor_type& type);

/// Refuses a plan whose memory cannot fit.
void check_memory(const draft& d, const plan& p);

/// " (line 12)", or nothing for what was built in C++.
std::string on_line(const place& where);

/// Hands on what `found` holds; true if there is no error among it.
bool forward(const diagnostics& found, diagnostics& out);

}  // namespace graphline::planning
