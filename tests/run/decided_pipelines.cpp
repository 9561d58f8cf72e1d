#include "tests/run/decided_pipelines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "framework/stage/stage.hpp"
#include "framework/stage/value_check.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline::testing_decisions {
namespace {

const tensor_type table_type{{most_rows, columns}, dtype::int64};
const tensor_type number_type{{1}, dtype::int64};
constexpr std::int64_t poison = -777'777;

std::int64_t mixed(std::int64_t value, std::int64_t more) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * 31U +
                                   static_cast<std::uint64_t>(more));
}

/// Writes the first rows of a table.
template <class Inputs>
void write_table(const Inputs& inputs, const tensor_view& output, std::int64_t salt) {
  const std::int64_t rows = output.type.shape[0];
  for (const auto& input : inputs) {
    if (input.type.shape[0] != rows) throw std::logic_error("inputs with other rows");
  }
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    std::int64_t value = salt + i;
    for (const auto& input : inputs) value = mixed(value, input.template as<std::int64_t>()[i]);
    output.as<std::int64_t>()[i] = value;
  }
}

template <class Inputs>
void write_number(const Inputs& inputs, const tensor_view& output, std::int64_t salt,
                  std::int64_t modulus) {
  std::int64_t value = salt;
  std::int64_t rows = most_rows;
  for (const auto& input : inputs) {
    const std::int64_t* const data = input.template as<std::int64_t>();
    const bool number = input.type == number_type;
    if (number) rows = std::min(data[0], most_rows);
    const std::int64_t count = number ? 1 : rows * columns;
    for (std::int64_t i = 0; i < count; ++i) value = mixed(value, data[i]);
  }
  *output.as<std::int64_t>() = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) %
                                                         static_cast<std::uint64_t>(modulus));
}

struct settings_of_stage {
  explicit settings_of_stage(const stage_config& config)
      : name(config.name),
        table(config.outputs[0] != number_type),
        salt(config.arguments.integer("salt")),
        modulus(config.arguments.integer("modulus")) {}

  std::string name;
  bool table;
  std::int64_t salt;
  std::int64_t modulus;
};

class decided_cpu_stage final : public cpu_stage {
 public:
  decided_cpu_stage(const stage_config& config, observer seen)
      : of_(config), seen_(std::move(seen)) {}
  void run(const cpu_call& call) override {
    const tensor_view& output = call.outputs[0];
    if (of_.table) return write_table(call.inputs, output, of_.salt + call.frame);
    write_number(call.inputs, output, of_.salt + call.frame, of_.modulus);
    if (seen_) seen_(of_.name, call.frame, *output.as<std::int64_t>());
  }

 private:
  settings_of_stage of_;
  observer seen_;
};

std::vector<stage_part> parts_for(std::int64_t rows) {
  if (rows == 1) return {{"0.mix", ""}};
  return {{"0.mix", ""}, {"1.settle", ""}};
}

class decided_work final : public device_work, public host_operation, public value_check {
 public:
  decided_work(settings_of_stage of, launcher launch, stage_tensors tensors)
      : of_(std::move(of)), launch_(std::move(launch)), tensors_(std::move(tensors)) {
    operands_.push_back(tensors_.outputs[0].data);
    for (const tensor_view& input : tensors_.inputs) operands_.push_back(input.data);
  }

  void enqueue(stream& s) override {
    launch_(s, *this, operands_);
    if (parts_ > 1) launch_(s, settle_, {});
  }
  void enqueue_in_parts(stream& s, part_marker& marker) override {
    launch_(s, *this, operands_);
    marker.part_enqueued(s);
    if (parts_ == 1) return;
    launch_(s, settle_, {});
    marker.part_enqueued(s);
  }

  std::string_view name() const noexcept override { return "mix"; }
  void run() override {
    const tensor_view& output = tensors_.outputs[0];
    if (!of_.table) return write_number(tensors_.inputs, output, of_.salt, of_.modulus);
    write_table(tensors_.inputs, output, of_.salt);
    for (const tensor_view& input : tensors_.inputs) {
      const auto* const begin = input.as<std::int64_t>();
      if (std::find(begin, begin + rows() * columns, poison) != begin + rows() * columns) {
        problem_ = "reads rows that nobody wrote";  // right for rows that the frame lacks
      }
    }
    std::fill_n(output.as<std::int64_t>() + rows() * columns, (most_rows - rows()) * columns,
                poison);
  }

  std::string take_problem() override { return std::exchange(problem_, {}); }

 private:
  struct nothing final : host_operation {
    std::string_view name() const noexcept override { return "settle"; }
    void run() override {}
  };

  std::int64_t rows() const { return tensors_.outputs[0].type.shape[0]; }

  settings_of_stage of_;
  launcher launch_;
  stage_tensors tensors_;
  std::vector<const void*> operands_;
  std::size_t parts_ = parts_for(rows()).size();
  nothing settle_;
  std::string problem_;
};

class decided_stage final : public device_stage {
 public:
  decided_stage(const stage_config& config, launcher launch)
      : of_(config), rows_(config.outputs[0].shape[0]), launch_(std::move(launch)) {}
  std::vector<stage_part> parts() const override { return parts_for(rows_); }
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<decided_work>(of_, launch_, tensors);
  }

 private:
  settings_of_stage of_;
  std::int64_t rows_;
  launcher launch_;
};

stage_kind decided_kind(const std::string& name, side on, bool table) {
  stage_kind kind;
  kind.name = name;
  kind.headline = "For tests.";
  kind.on = on;
  kind.inputs = {{"x", "", table}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.outputs = {{"y", "", table}};
  for (const char* key : {"salt", "modulus"}) {
    kind.parameters.push_back(
        {.name = key, .type = parameter_type::integer, .help = "", .default_value = "1"});
  }
  return kind;
}

prepared_stage prepared(bool table, std::span<const tensor_type> inputs) {
  if (!table) return {.outputs = {number_type}};
  return {.outputs = {inputs.empty() ? table_type : inputs[0]}};
}

}  // namespace

stage_registry make_registry(const std::string& backend, const launcher& launch,
                             const observer& seen) {
  stage_registry registry;
  for (const bool table : {false, true}) {
    const std::string name = table ? "table" : "number";
    stage_kind on_cpu = decided_kind("cpu_" + name, side::cpu, table);
    on_cpu.prepare = [table, seen](const arguments&, std::span<const tensor_type> inputs,
                                   diagnostics&) {
      prepared_stage result = prepared(table, inputs);
      result.make_cpu = [seen](const stage_config& config) {
        return std::make_unique<decided_cpu_stage>(config, seen);
      };
      return result;
    };
    registry.add(std::move(on_cpu));
    stage_kind on_device = decided_kind(name, side::device, table);
    on_device.backends = {backend};
    on_device.prepare = [=](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
      prepared_stage result = prepared(table, inputs);
      result.make_device[backend] = [launch](device&, const stage_config& config) {
        return std::make_unique<decided_stage>(config, launch);
      };
      return result;
    };
    registry.add(std::move(on_device));
  }
  const stage_registry plain = testing_kinds::make_registry();
  stage_kind copy = *plain.find("copy");
  copy.inputs[0].rows = copy.outputs[0].rows = true;
  registry.add(std::move(copy));
  return registry;
}

stage_registry make_host_registry(const observer& seen) {
  return make_registry(
      "host",
      [](stream& s, host_operation& work, const std::vector<const void*>&) {
        host_enqueue(s, work);
      },
      seen);
}

stage_spec& add_stage(pipeline_spec& spec, const std::string& name, const std::string& kind,
                      const std::vector<std::string>& reads, std::int64_t salt,
                      std::int64_t modulus) {
  stage_spec& stage = spec.stages.emplace_back();
  stage.name = {name};
  stage.kind = {kind};
  for (const std::string& tensor : reads) stage.reads.push_back({tensor});
  stage.parameters = node::mapping({{{"salt"}, salt}, {{"modulus"}, modulus}});
  return stage;
}

namespace {

/// Returns the tensor that replaces what a stage reads, or null.
const named* replacement(const stage_spec& stage, const std::string& read,
                         const std::set<std::string>& conditional) {
  for (std::size_t i = 0; i < stage.otherwise.size(); ++i) {
    const bool replaces = stage.otherwise_reads.empty() ? conditional.contains(read)
                                                        : stage.otherwise_reads[i].text == read;
    if (replaces) return &stage.otherwise[i];
  }
  return nullptr;
}

/// Returns true if a frame may skip the stage.
/// @param conditional tensors of earlier stages that a frame may skip
bool may_be_skipped(const stage_spec& stage, const std::set<std::string>& conditional) {
  if (!stage.when.text.empty() || conditional.contains(stage.rows.text)) return true;
  return std::ranges::any_of(stage.reads, [&](const named& read) {
    const named* const other = replacement(stage, read.text, conditional);
    return conditional.contains(other == nullptr ? read.text : other->text);
  });
}

struct drawn_tensor {
  std::string name;
  bool table = false;
  std::string rows = "";  ///< the tensor with the number of its rows; empty if it is whole

  bool replaces(const drawn_tensor& other) const {
    return table == other.table && rows == other.rows && name != other.name;
  }
};

class drawing {
 public:
  explicit drawing(std::mt19937& random) : random_(random) {
    spec_.name = {"drawn"};
    spec_.inputs.push_back({.name = {"x"}, .type = table_type});
    spec_.inputs.push_back({.name = {"one"}, .type = number_type});
    spec_.inputs.back().fill = fill::ones;
    spec_.inputs.front().fill = fill::ones;
    tensors_ = {{"x", true}, {"one", false}};
  }

  pipeline_spec draw() {
    for (std::size_t count = 2 + below(15); count > 0; --count) add();
    spec_.run.guard = one_in(2);
    return std::move(spec_);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t chances) { return below(chances) == 0; }

  template <class Wanted>
  drawn_tensor pick(const Wanted& wanted) {
    std::vector<drawn_tensor> list;
    std::ranges::copy_if(tensors_, std::back_inserter(list), wanted);
    return list[below(list.size())];
  }
  std::string pick_number() {
    return pick([](const drawn_tensor& t) { return !t.table; }).name;
  }

  void add() {
    const bool table = one_in(2);
    const bool on_cpu = one_in(2);
    drawn_tensor made{fmt::format("s{}", spec_.stages.size()), table};
    std::vector<drawn_tensor> reads;
    if (table && !one_in(3)) made.rows = pick_number();
    for (std::size_t more = below(4); more > 0; --more) {
      const drawn_tensor read = pick([&](const drawn_tensor& t) {
        return !table || (t.table && (t.rows.empty() || t.rows == made.rows));
      });
      if (!table && !read.rows.empty()) reads.push_back({read.rows});
      reads.push_back(read);
    }
    if (reads.empty() && table && !on_cpu) reads.push_back(tensors_.front());
    std::vector<std::string> names;
    for (const drawn_tensor& t : reads) names.push_back(t.name);
    stage_spec& stage = add_stage(spec_, made.name,
                                  std::string(on_cpu ? "cpu_" : "") + (table ? "table" : "number"),
                                  names, static_cast<std::int64_t>(below(1000)), one_in(2) ? 8 : 2);
    stage.priority = level_of(static_cast<priority>(below(3)));
    stage.rows = {made.rows};
    if (table && !on_cpu && !made.rows.empty()) add_buckets(stage);
    if (one_in(4)) stage.when = {pick_number()};
    add_alternatives(stage, reads, on_cpu);
    if (spec_.stages.size() > 1 && one_in(6)) {
      stage.after = {{fmt::format("s{}", below(spec_.stages.size() - 1))}};
    }
    if (may_be_skipped(stage, conditional_)) conditional_.insert(made.name);
    tensors_.push_back(made);
  }

  /// Draws buckets; none leaves the default.
  void add_buckets(stage_spec& stage) {
    if (one_in(3)) return;
    for (std::int64_t rows = 1; rows < most_rows; ++rows) {
      if (one_in(2)) stage.buckets.rows.push_back(rows);
    }
    stage.buckets.rows.push_back(most_rows);
  }

  void add_alternatives(stage_spec& stage, const std::vector<drawn_tensor>& reads, bool on_cpu) {
    std::set<std::string> missing;
    for (const drawn_tensor& read : reads) {
      if (!conditional_.contains(read.name) || !missing.insert(read.name).second) continue;
      if (one_in(3) || (!on_cpu && !stage.otherwise.empty())) continue;
      const auto replaces = [&](const drawn_tensor& t) { return t.replaces(read); };
      if (std::ranges::none_of(tensors_, replaces)) continue;
      stage.otherwise.push_back({pick(replaces).name});
      stage.otherwise_reads.push_back({read.name});
    }
    if (missing.size() == 1 && one_in(2)) stage.otherwise_reads.clear();
  }

  std::mt19937& random_;
  pipeline_spec spec_;
  std::vector<drawn_tensor> tensors_;
  std::set<std::string> conditional_;
};

std::int64_t parameter_of(const stage_spec& stage, const std::string& key) {
  return std::stoll(stage.parameters.find(key)->text());
}

/// Computes one frame.
class frame_interpreter {
 public:
  frame_interpreter(const pipeline_spec& spec, interpretation& into) : spec_(spec), into_(into) {}

  void run(std::int64_t frame) {
    into_.tensors = {{"x", {false, {}, std::vector<std::int64_t>(most_rows * columns, 1)}},
                     {"one", {false, {}, {1}}}};
    std::set<std::string> conditional;
    for (const stage_spec& stage : spec_.stages) {
      const bool skippable = may_be_skipped(stage, conditional);
      written made;
      const std::int32_t rows = run(stage, frame, conditional, made);
      if (skippable || !stage.rows.text.empty() || !stage.otherwise.empty()) {
        into_.rows[stage.name.text].push_back(rows);
      }
      if (skippable && made.missing) made.rows = 0;
      if (skippable) conditional.insert(stage.name.text);
      if (stage.kind.text == "cpu_number") {
        into_.numbers[stage.name.text].push_back(made.missing ? skipped : made.values[0]);
      }
      into_.tensors[stage.name.text] = std::move(made);
    }
  }

 private:
  const written& tensor(const std::string& name) const { return into_.tensors.at(name); }

  std::int32_t run(const stage_spec& stage, std::int64_t frame,
                   const std::set<std::string>& conditional, written& made) const {
    made.missing = true;
    std::vector<const written*> inputs;
    for (const named& read : stage.reads) {
      const written* input = &tensor(read.text);
      const named* const other = replacement(stage, read.text, conditional);
      if (input->missing && other != nullptr) input = &tensor(other->text);
      if (input->missing) return skipped;
      inputs.push_back(input);
    }
    for (const named& decider : {stage.when, stage.rows}) {
      if (!decider.text.empty() && tensor(decider.text).missing) return skipped;
    }
    if (!stage.when.text.empty() && tensor(stage.when.text).values[0] == 0) return skipped;
    made.missing = false;
    std::int64_t found = 1;
    std::int64_t rows = most_rows;
    if (!stage.rows.text.empty()) {
      found = tensor(stage.rows.text).values[0];
      rows = std::min(found, most_rows);
      made.rows = rows;
    }
    const bool on_cpu = stage.kind.text.starts_with("cpu_");
    const std::int64_t salt = parameter_of(stage, "salt") + (on_cpu ? frame : 0);
    if (stage.kind.text.ends_with("table")) {
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        std::int64_t value = salt + i;
        for (const written* input : inputs) {
          value = mixed(value, input->values.at(static_cast<std::size_t>(i)));
        }
        made.values.push_back(value);
      }
      return static_cast<std::int32_t>(found);
    }
    std::int64_t value = salt;
    std::int64_t limit = most_rows;
    for (const written* input : inputs) {
      const bool number = input->values.size() == 1;
      if (number) limit = std::min(input->values[0], most_rows);
      const std::int64_t count = number ? 1 : limit * columns;
      for (std::int64_t i = 0; i < count; ++i) {
        value = mixed(value, input->values.at(static_cast<std::size_t>(i)));
      }
    }
    made.values = {
        static_cast<std::int64_t>(static_cast<std::uint64_t>(value) %
                                  static_cast<std::uint64_t>(parameter_of(stage, "modulus")))};
    return static_cast<std::int32_t>(found);
  }

  const pipeline_spec& spec_;
  interpretation& into_;
};

std::string checksum_of(const std::vector<std::int64_t>& values) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::int64_t value : values) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3ULL;
    hash ^= hash >> 32;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

pipeline_spec draw(std::mt19937& random) {
  return drawing(random).draw();
}

std::string lines_of(const pipeline_spec& spec) {
  std::string text;
  for (const stage_spec& stage : spec.stages) {
    text += fmt::format("{} = {}(", stage.name.text, stage.kind.text);
    for (const named& read : stage.reads) text += read.text + " ";
    text += fmt::format(") {}", stage.parameters.in_one_line());
    if (!stage.rows.text.empty()) text += " rows " + stage.rows.text;
    if (!stage.buckets.rows.empty()) {
      text += fmt::format(" in {}", fmt::join(stage.buckets.rows, ", "));
    }
    if (!stage.when.text.empty()) text += " when " + stage.when.text;
    for (std::size_t i = 0; i < stage.otherwise.size(); ++i) {
      text += " otherwise " + stage.otherwise[i].text;
      if (!stage.otherwise_reads.empty()) text += " for " + stage.otherwise_reads[i].text;
    }
    text += "\n";
  }
  return text;
}

interpretation interpret(const pipeline_spec& spec, std::int64_t frames) {
  interpretation result;
  frame_interpreter interpreter(spec, result);
  for (std::int64_t frame = 0; frame < frames; ++frame) interpreter.run(frame);
  return result;
}

void expect_as_interpreted(const run_record& record, const interpretation& expected) {
  ASSERT_FALSE(record.failure) << *record.failure;
  for (const stage_record& stage : record.stages) {
    const bool copy = stage.name.starts_with("copy:");
    const auto found = expected.rows.find(copy ? stage.name.substr(5) : stage.name);
    std::vector<std::int32_t> rows;
    if (found != expected.rows.end()) {
      rows.assign(found->second.end() - std::ssize(record.frames), found->second.end());
    }
    // A copy of what is there in every frame decides nothing.
    if (copy && stage.rows.empty())
      rows.resize(std::ranges::count_if(rows, [](auto r) { return r != 1; }));
    EXPECT_EQ(stage.rows, rows) << stage.name;
  }
  for (const output_record& output : record.outputs) {
    const written& tensor = expected.tensors.at(output.tensor);
    EXPECT_EQ(output.rows, tensor.rows) << output.tensor;
    EXPECT_EQ(output.checksum, checksum_of(tensor.values)) << output.tensor;
  }
}

namespace {

void expect_empty(const std::vector<stamp_pair>& column, std::size_t frame,
                  const frame_record& within) {
  if (column.empty()) return;
  EXPECT_EQ(column[frame].begin, column[frame].end);
  EXPECT_GE(column[frame].begin, within.begin);
  EXPECT_LE(column[frame].end, within.end);
}

/// @param runs The stage runs the part in this frame.
void expect_part(const part_record& part, const stage_record& stage, std::size_t frame, bool runs) {
  if (part.device.empty()) return;
  const stamp_pair& seen = part.device[frame];
  if (runs) {
    EXPECT_GE(seen.begin, stage.device[frame].begin) << part.name;
    EXPECT_LE(seen.end, stage.device[frame].end) << part.name;
    return;
  }
  EXPECT_EQ(seen.begin, seen.end) << part.name;
  EXPECT_TRUE(part.busy.empty() || part.busy[frame] == 0) << part.name;
}

}  // namespace

void expect_no_time_where_skipped(const run_record& record) {
  for (const stage_record& stage : record.stages) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, stage.name);
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      const bool runs = ran(stage, f);
      for (const part_record& part : stage.parts) {
        expect_part(part, stage, f, runs && part.bucket == bucket_of(stage, f));
      }
      if (runs) continue;
      for (const auto* column : {&stage.enqueued, &stage.synced, &stage.device, &stage.cpu}) {
        expect_empty(*column, f, record.frames[f]);
      }
      EXPECT_TRUE(stage.busy.empty() || stage.busy[f] == 0);
    }
  }
}

}  // namespace graphline::testing_decisions
