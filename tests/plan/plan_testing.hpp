#pragma once

// A registry of simple kinds and builders of specs, for the planner's tests.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/plan/planner.hpp"

namespace graphline::plan_testing {

/// A prepared stage with factories that no test of plans calls.
inline prepared_stage makes_nothing(side on) {
  prepared_stage result;
  if (on == side::cpu) {
    result.make_cpu = [](const stage_config&) { return std::unique_ptr<cpu_stage>(); };
  } else {
    result.make_device[""] = [](device&, const stage_config&) {
      return std::unique_ptr<device_stage>();
    };
  }
  return result;
}

/// A kind that accepts any number of tensors and writes float32 of its parameter `shape`, by
/// default the shape of its first input.
inline stage_kind plain_kind(std::string name, side on) {
  stage_kind kind;
  kind.name = std::move(name);
  kind.headline = "For tests.";
  kind.on = on;
  kind.inputs = {{"x", "anything"}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.outputs = {{"y", "result"}};
  kind.parameters = {
      {.name = "shape", .type = parameter_type::shape, .help = "Of y.", .default_value = {}},
      {.name = "weights",
       .type = parameter_type::integer,
       .help = "Parameters.",
       .default_value = "0"},
      {.name = "flops", .type = parameter_type::integer, .help = "Work.", .default_value = "0"}};
  if (on == side::device) kind.backends = {""};
  kind.prepare = [on](const arguments& a, std::span<const tensor_type> inputs, diagnostics& out) {
    prepared_stage result = makes_nothing(on);
    if (!a.has("shape") && inputs.empty()) {
      out.error(a.where(), "nothing says which shape to write");
      return result;
    }
    result.outputs = {{a.has("shape") ? a.extents("shape") : inputs[0].shape, dtype::float32}};
    result.cost.parameters = a.integer("weights");
    result.cost.flops = a.integer("flops");
    for (const tensor_type& t : inputs) {
      result.cost.bytes_read += static_cast<std::int64_t>(t.bytes());
    }
    if (const auto elements = result.outputs[0].shape.checked_elements()) {
      result.cost.bytes_written = *elements / 2 * 8;
    }
    result.known = known_cost::all;
    return result;
  };
  return kind;
}

/// Reads one tensor and writes the same type.
inline stage_kind same_kind(std::string name, side on) {
  stage_kind kind = plain_kind(std::move(name), on);
  kind.optional_inputs = 0;
  kind.repeat_last_input = false;
  kind.parameters.clear();
  kind.prepare = [on](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result = makes_nothing(on);
    result.outputs = {inputs[0]};
    result.cost.bytes_read = static_cast<std::int64_t>(inputs[0].bytes());
    result.cost.bytes_written = result.cost.bytes_read;
    result.known = known_cost::bytes;
    return result;
  };
  return kind;
}

inline stage_kind copy_kind() {
  stage_kind kind = same_kind("copy", side::device);
  kind.moves = true;
  kind.inputs[0].rows = kind.outputs[0].rows = true;
  return kind;
}

/// `image_net` (device, on `cuda` channels last and of the type `inside`, or any), `gpu` and `work`
/// (any inputs; device and CPU), `copy`, `detect` (CPU: image, and an optional mask, to boxes and
/// scores), `sink` (CPU, writes nothing), `flat` (device, rank 2 only), `ported` (CPU, with the
/// inputs and outputs that its parameter `ports` lists) and `cuda_only`.
inline stage_registry test_registry(bool with_copy = true) {
  stage_registry registry;
  registry.add(plain_kind("gpu", side::device));
  registry.add(plain_kind("work", side::cpu));
  if (with_copy) registry.add(copy_kind());
  stage_kind image_net = plain_kind("image_net", side::device);
  image_net.parameters.push_back({.name = "inside",
                                  .type = parameter_type::choice,
                                  .help = "",
                                  .default_value = "float32",
                                  .choices = dtype_names()});
  image_net.parameters.back().choices.emplace_back("any");
  image_net.prepare = [plain = image_net.prepare](const arguments& values,
                                                  std::span<const tensor_type> inputs,
                                                  diagnostics& out) {
    prepared_stage result = plain(values, inputs, out);
    result.forms["cuda"] = {.channels_last = true, .element = dtype_from(values.text("inside"))};
    return result;
  };
  registry.add(std::move(image_net));

  stage_kind detect = same_kind("detect", side::cpu);
  detect.inputs = {{"image", ""}, {"mask", ""}};
  detect.optional_inputs = 1;
  detect.outputs = {{"boxes", ""}, {"scores", ""}};
  detect.prepare = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    prepared_stage result = makes_nothing(side::cpu);
    result.outputs = {{{10, 4}, dtype::float32}, {{10}, dtype::float32}};
    return result;
  };
  registry.add(std::move(detect));

  stage_kind sink = same_kind("sink", side::cpu);
  sink.outputs.clear();
  sink.prepare = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return makes_nothing(side::cpu);
  };
  registry.add(std::move(sink));

  stage_kind flat = same_kind("flat", side::device);
  flat.prepare = [](const arguments& a, std::span<const tensor_type> inputs, diagnostics& out) {
    prepared_stage result = makes_nothing(side::device);
    if (inputs[0].shape.rank() != 2) {
      out.error(a.where(), "flat takes [rows, columns], but reads " + to_string(inputs[0].shape));
    }
    result.outputs = {inputs[0]};
    return result;
  };
  registry.add(std::move(flat));

  stage_kind ported = same_kind("ported", side::cpu);
  ported.parameters = {{.name = "ports", .type = parameter_type::tree, .help = ""}};
  ported.prepare = nullptr;
  ported.open = [](const arguments& a, diagnostics&) {
    stage_ports ports;
    const node& names = a.tree("ports");
    for (const node& name : names.is_sequence() ? names.items() : std::vector{names}) {
      ports.inputs.push_back({name.text(), ""});
    }
    ports.outputs = ports.inputs;
    return opened_stage{ports,
                        [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
                          prepared_stage result = makes_nothing(side::cpu);
                          result.outputs.assign(inputs.begin(), inputs.end());
                          return result;
                        }};
  };
  registry.add(std::move(ported));

  stage_kind cuda_only = same_kind("cuda_only", side::device);
  cuda_only.backends = {"cuda"};
  cuda_only.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result{.outputs = {inputs[0]}, .known = known_cost::bytes};
    result.cost.bytes_read = static_cast<std::int64_t>(inputs[0].bytes());
    result.make_device["cuda"] = [](device&, const stage_config&) {
      return std::unique_ptr<device_stage>();
    };
    return result;
  };
  registry.add(std::move(cuda_only));
  return registry;
}

/// Builds a spec in the order of the calls.
class spec_builder {
 public:
  spec_builder() { spec.name.text = "tested"; }

  spec_builder& input(std::string name, shape extents, std::optional<side> on = {}) {
    spec.inputs.push_back(
        {.name = {std::move(name), {}}, .type = {std::move(extents), dtype::float32}, .on = on});
    return *this;
  }

  spec_builder& stage(std::string name, std::string kind, const std::vector<std::string>& reads,
                      const std::vector<std::string>& writes = {},
                      const std::vector<std::string>& after = {}) {
    stage_spec s;
    s.name.text = std::move(name);
    s.kind.text = std::move(kind);
    for (const std::string& r : reads) s.reads.push_back({r, {}});
    for (const std::string& w : writes) s.writes.push_back({w, {}});
    for (const std::string& a : after) s.after.push_back({a, {}});
    spec.stages.push_back(std::move(s));
    return *this;
  }

  /// Of the stage added last.
  spec_builder& priority(graphline::priority level) {
    spec.stages.back().priority = level_of(level);
    return *this;
  }

  /// Of the stage added last.
  spec_builder& with(std::string parameter, node value) {
    std::vector<node::member> members = spec.stages.back().parameters.members();
    members.push_back({{std::move(parameter), {}}, std::move(value)});
    spec.stages.back().parameters = node::mapping(std::move(members));
    return *this;
  }

  pipeline_spec spec;
};

/// "s7".
inline std::string numbered(std::size_t i) {
  return fmt::format("s{}", i);
}

inline node extents(std::initializer_list<std::int64_t> list) {
  std::vector<node> items;
  for (const std::int64_t e : list) items.emplace_back(e);
  return node::sequence(std::move(items));
}

inline std::vector<std::string> messages(const diagnostics& out, severity wanted) {
  std::vector<std::string> list;
  for (const diagnostic& d : out.all()) {
    if (d.severity == wanted) list.push_back(d.message);
  }
  return list;
}

/// The errors of a spec, in the order reported.
inline std::vector<std::string> errors_of(const spec_builder& b, const plan_target& target = {},
                                          bool with_copy = true) {
  const stage_registry registry = test_registry(with_copy);
  diagnostics out;
  make_plan(b.spec, registry, target, out);
  return messages(out, severity::error);
}

/// Adds `count` and `gpu_count` (any inputs; write int64 [1]), `row_work` and `row_gpu` (any
/// inputs; rows are independent), `row_eight` (device; claims so, but always writes 8 rows) and
/// `row_sum` (device; claims so, but combines 2 to `most` rows; refuses fewer than `least`).
inline void add_row_kinds(stage_registry& registry) {
  for (const side on : {side::cpu, side::device}) {
    stage_kind count = plain_kind(on == side::cpu ? "count" : "gpu_count", on);
    count.prepare = [on](const arguments&, std::span<const tensor_type>, diagnostics&) {
      prepared_stage result = makes_nothing(on);
      result.outputs = {{{1}, dtype::int64}};
      return result;
    };
    stage_kind other = count;
    other.name += "_columns";
    other.prepare = [make = count.prepare](const arguments& values,
                                           std::span<const tensor_type> inputs, diagnostics& out) {
      prepared_stage result = make(values, inputs, out);
      result.other_counts[0] = "it counts columns";
      return result;
    };
    registry.add(std::move(other));
    registry.add(std::move(count));

    stage_kind rows = plain_kind(on == side::cpu ? "row_work" : "row_gpu", on);
    rows.inputs[0].rows = rows.outputs[0].rows = true;
    registry.add(std::move(rows));
  }
  stage_kind eight = plain_kind("row_eight", side::device);
  eight.inputs[0].rows = eight.outputs[0].rows = true;
  eight.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result = makes_nothing(side::device);
    result.outputs = {first_rows(inputs[0], 8)};
    return result;
  };
  registry.add(std::move(eight));

  stage_kind sum = same_kind("row_sum", side::device);
  sum.inputs[0].rows = sum.outputs[0].rows = true;
  sum.parameters = {
      {.name = "most", .type = parameter_type::integer, .help = "Rows.", .default_value = "8"},
      {.name = "least", .type = parameter_type::integer, .help = "Rows.", .default_value = "1"}};
  sum.prepare = [](const arguments& values, std::span<const tensor_type> inputs, diagnostics& out) {
    prepared_stage result = makes_nothing(side::device);
    result.outputs = {inputs[0]};
    const std::int64_t rows = inputs[0].shape[0];
    if (rows < values.integer("least")) out.error(values.where(), "too few rows");
    if (rows > 1 && rows <= values.integer("most")) {
      result.combined_rows = "layer 'sum' combines or reorders rows";
    }
    return result;
  };
  registry.add(std::move(sum));
}

/// A registry that outlives every plan of a test program.
inline const stage_registry& lasting_registry() {
  static const stage_registry registry = [] {
    stage_registry made = test_registry();
    add_row_kinds(made);
    return made;
  }();
  return registry;
}

/// The plan of a spec without errors.
inline plan plan_of(const pipeline_spec& spec, const plan_target& target = {}) {
  diagnostics out;
  plan p = make_plan(spec, lasting_registry(), target, out);
  EXPECT_FALSE(out.has_errors()) << out.render();
  return p;
}
inline plan plan_of(const spec_builder& b) {
  return plan_of(b.spec);
}

inline std::vector<std::string> names_of(const std::vector<planned_stage>& stages) {
  std::vector<std::string> names;
  for (const planned_stage& s : stages) names.push_back(s.name);
  return names;
}

inline std::size_t index_of(const plan& p, const std::string& stage) {
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    if (p.stages[s].name == stage) return s;
  }
  ADD_FAILURE() << "no stage " << stage;
  return 0;
}
inline const planned_stage& stage_of(const plan& p, const std::string& name) {
  return p.stages[index_of(p, name)];
}
inline const planned_tensor& tensor_of(const plan& p, const std::string& name) {
  for (const planned_tensor& t : p.tensors) {
    if (t.name == name) return t;
  }
  ADD_FAILURE() << "no tensor " << name;
  return p.tensors.front();
}

}  // namespace graphline::plan_testing
