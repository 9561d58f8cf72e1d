#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/spec/node_reading.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Copies the rows of `from`, of which there are `rows`, at the given indices; writes zeros for
/// index -1.
/// @throws run_error if any other index is out of range
void gather_rows(const const_tensor_view& indices, const const_tensor_view& from,
                 const tensor_view& to, std::int64_t rows) {
  const std::size_t axis = indices.type.shape.rank() - 1;
  const std::int64_t entries = axis == 0 ? 1 : indices.type.shape[0];
  const std::int64_t kept = indices.type.shape[axis];
  const std::size_t row_bytes = to.type.bytes() / static_cast<std::size_t>(entries * kept);
  const auto* index = indices.as<const std::int64_t>();
  const auto* entry = from.as<const std::byte>();
  auto* out = to.as<std::byte>();
  for (std::int64_t e = 0; e < entries; ++e) {
    for (std::int64_t k = 0; k < kept; ++k, ++index, out += row_bytes) {
      if (*index == -1) {
        std::memset(out, 0, row_bytes);
      } else if (*index < 0 || *index >= rows) {
        throw run_error(
            fmt::format("cpu.gather reads index {}, but there are {} rows; indices are "
                        "0 to {}, or -1 for a row of zeros",
                        *index, rows, rows - 1));
      } else {
        std::memcpy(out, entry + static_cast<std::size_t>(*index) * row_bytes, row_bytes);
      }
    }
    entry += static_cast<std::size_t>(rows) * row_bytes;
  }
}

class gather final : public cpu_stage {
 public:
  // With `rows:` and without a batch, the frame has fewer indices but the tensors keep all rows.
  explicit gather(const stage_config& config)
      : rows_(config.inputs.at(1).shape[config.inputs[0].shape.rank() - 1]) {}

  void run(const cpu_call& call) override {
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      gather_rows(call.inputs[0], call.inputs[i + 1], call.outputs[i], rows_);
    }
  }

 private:
  std::int64_t rows_;
};

prepared_stage prepare_gather(const arguments& given, std::span<const tensor_type> inputs,
                              diagnostics& out) {
  const tensor_type& indices = inputs[0];
  const std::size_t rank = indices.shape.rank();
  bool sound = indices.element == dtype::int64 && (rank == 1 || rank == 2);
  for (const tensor_type& tensor : inputs.subspan(1)) {
    sound = sound && tensor.shape.rank() >= rank &&
            tensor.shape[rank - 1] == inputs[1].shape[rank - 1] &&
            (rank == 1 || tensor.shape[0] == indices.shape[0]);
  }
  if (!check_inputs(sound, given, inputs,
                    "cpu.gather reads indices int64 [K] and tensors [N, ..] of equal N, or of "
                    "a batch [B, K] and [B, N, ..]",
                    out)) {
    return {};
  }
  std::vector<tensor_type> outputs;
  for (const tensor_type& tensor : inputs.subspan(1)) {
    std::vector<std::int64_t> extents = tensor.shape.extents();
    extents[rank - 1] = indices.shape[rank - 1];
    outputs.push_back({shape(std::move(extents)), tensor.element});
  }
  prepared_stage result = prepared_moves(inputs, std::move(outputs), make_cpu_stage<gather>);
  result.known = known_cost::all;  // no arithmetic
  return result;
}

/// Opens a stage with an input port and an output port for each name in 'inputs'.
opened_stage open_gather(const arguments& given, diagnostics& out) {
  // Rows are the entries of a batch, as for cpu.nms.
  stage_ports ports{.inputs = {{"indices", "", true}}, .outputs = {}};
  for (const named& name : read_names(given.tree("inputs"), "inputs", out)) {
    if (std::ranges::count(ports.inputs, name.text, &port::name) > 0) {
      out.error(name.place, fmt::format("cpu.gather already reads a tensor as '{}'; give each of "
                                        "'inputs' another name",
                                        name.text));
    }
    ports.inputs.push_back({name.text, "", true});
    ports.outputs.push_back({name.text, "", true});
  }
  if (ports.outputs.empty()) {
    out.error(given.where("inputs"), "'inputs' must name at least one tensor to gather from");
  }
  return {std::move(ports), prepare_gather};
}

}  // namespace

stage_kind gather_kind() {
  stage_kind kind = kind_named(
      "cpu.gather", "Gather rows of tensors by index, such as the boxes that cpu.nms keeps");
  kind.inputs = {{"indices", "int64 [K], or of a batch [B, K]: rows, -1 for none", true},
                 {"boxes", "[N, ..] or [B, N, ..] of any dtype, or those of 'inputs'", true}};
  kind.outputs = {{"boxes",
                   "[K, ..] or [B, K, ..], or one for each of 'inputs': the rows in the order of "
                   "the indices, zeros for -1",
                   true}};
  kind.parameters = {
      {.name = "inputs",
       .type = parameter_type::tree,
       .help = "Names of the tensors that the stage reads after the indices, in order; each has an "
               "output of the same name.",
       .default_value = "boxes",
       .structure = "name or list of names"},
  };
  kind.open = open_gather;
  return kind;
}

}  // namespace graphline
