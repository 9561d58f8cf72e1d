#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A set of small numbers whose size is fixed when it is made, so that the unions over thousands of
/// stages cost a word per 64 of them.
class bit_set {
 public:
  bit_set() = default;
  explicit bit_set(std::size_t size, bool all = false)
      : words_((size + 63) / 64, all ? ~std::uint64_t{0} : std::uint64_t{0}) {}

  bool operator[](std::size_t i) const noexcept { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
  void set(std::size_t i) noexcept { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

  // Both operands must have been made with the same size.
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
  std::string file;                                ///< of an input, in place of `fill`; or empty
  std::size_t producer = 0;                        ///< index of a stage; of no meaning for an input
  std::vector<std::size_t> consumers;              ///< stages that read it, ascending
  bool output() const noexcept { return consumers.empty() && !input; }
};

/// A stage with everything decided.
struct planned_stage {
  std::string name;
  const stage_kind* kind = nullptr;
  stage_config config;
  std::shared_ptr<const prepared_stage> prepared;
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
  /// A device stage whose end the host must see: for a CPU stage, for its schedule, or because
  /// nothing follows it.
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
  /// Path and checksum of what it reads besides, where they were taken.
  std::vector<std::pair<std::string, std::string>> files = {};
  settings run;
  std::vector<planned_tensor> tensors;
  std::vector<planned_stage> stages;  ///< in an order that satisfies every edge
  std::vector<planned_stream> streams;
  graphline::schedule schedule;
  /// reach[a][b]: stage b starts only after stage a is complete, directly or through others.
  std::vector<bit_set> reach;
};

}  // namespace graphline
