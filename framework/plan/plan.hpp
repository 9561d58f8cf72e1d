#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/plan/bit_set.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// An edge, as seen from its later stage.
struct dependency {
  std::size_t stage;  ///< index of the earlier stage
  satisfied_by how;
  std::vector<std::size_t> tensors;  ///< that it carries; empty for `after:`
};

/// A tensor with its place in a slot's memory.
struct planned_tensor {
  std::string name;
  tensor_type type;
  side on = side::device;
  tensor_layout layout = tensor_layout::row_major;
  bool input = false;  ///< there before the first frame; shared by all slots
  graphline::fill fill = graphline::fill::normal;  ///< of an input
  std::size_t producer = 0;                        ///< index of a stage; of no meaning for an input
  std::vector<std::size_t> consumers;              ///< stages that read it, ascending
  bool output() const noexcept { return consumers.empty() && !input; }
};

/// A stage with everything decided.
struct planned_stage {
  std::string name;
  const stage_kind* kind = nullptr;
  stage_config config;
  stage_shape shape;
  side on = side::device;              ///< copies are device stages
  bool inserted = false;               ///< a copy the planner put in
  std::vector<std::size_t> reads;      ///< tensor indices
  std::vector<std::size_t> writes;     ///< tensor indices
  std::vector<dependency> waits;       ///< by earlier stage, ascending, each once
  std::vector<std::size_t> followers;  ///< stages that wait for this one, ascending
  graphline::priority priority = graphline::priority::normal;
  std::size_t stream = 0;  ///< index into `streams`, of device stages; in a frame's graph, of all
  /// A stage of a stream whose end an event must mark: another stream, a CPU stage or the end of
  /// the frame waits for it.
  bool signals = false;
  /// A device stage whose end the host must see: for a CPU stage, or because nothing follows it.
  /// None in a frame's graph, whose end is all that the host sees.
  bool host_waits = false;
};

struct planned_stream {
  std::string name;
  graphline::priority priority = graphline::priority::normal;
  bool copies = false;  ///< carries inserted and declared copies only
  bool calls = false;   ///< carries CPU stages only, as host nodes of the frame's graph
};

/// What will happen: a validated, ordered pipeline with its settings.
struct plan {
  std::string pipeline;
  std::string description;
  std::shared_ptr<const source_text> source;  ///< what was declared; null for a spec made in C++
  std::vector<std::pair<std::string, std::string>> parameters;
  settings run;
  std::vector<planned_tensor> tensors;
  std::vector<planned_stage> stages;  ///< in an order that satisfies every edge
  std::vector<planned_stream> streams;
  /// reach[a][b]: stage b starts only after stage a is complete, directly or through others.
  std::vector<bit_set> reach;
};

}  // namespace graphline
