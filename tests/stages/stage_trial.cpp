#include "tests/stages/stage_trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

#include "framework/spec/yaml_reader.hpp"

namespace graphline::test {

namespace {

prepared_stage prepared(const stage_kind& kind, const arguments& values,
                        const std::vector<tensor_type>& inputs) {
  diagnostics out;
  prepared_stage stage = prepare(kind, values, inputs, out);
  out.throw_if_errors();
  return stage;
}

arguments bound(const stage_kind& kind, const node& written, diagnostics& out) {
  return bind_arguments(kind.parameters, written, "stage 'trial' (" + kind.name + ")",
                        written.where(), "", out);
}

}  // namespace

node parse(const std::string& yaml) {
  diagnostics out;
  node parsed = read_yaml(std::make_shared<source_text>("trial.yaml", yaml), out);
  out.throw_if_errors();
  return parsed;
}

std::string reference_file(const std::string& name) {
  const char* const elsewhere = std::getenv("GRAPHLINE_REFERENCES");
  const std::string folder = elsewhere != nullptr
                                 ? std::string(elsewhere)
                                 : std::string(GRAPHLINE_SOURCE_DIR) + "/tests/stages/references";
  std::string path = folder + "/" + name;
  if (!std::filesystem::exists(folder)) throw std::runtime_error("no references in " + folder);
  return path;
}

arguments read_arguments(const stage_kind& kind, const std::string& yaml) {
  diagnostics out;
  arguments values = bound(kind, parse(yaml), out);
  out.throw_if_errors();
  return values;
}

std::string problems_of(const stage_kind& kind, const std::string& yaml,
                        const std::vector<tensor_type>& inputs) {
  diagnostics out;
  const arguments values = bound(kind, parse(yaml), out);
  prepare(kind, values, inputs, out);
  std::string text;
  for (const diagnostic& d : out.all()) {
    text += std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.message +
            "\n";
  }
  return text;
}

prepared_stage prepare(const stage_kind& kind, const arguments& values,
                       const std::vector<tensor_type>& inputs, diagnostics& out) {
  if (!kind.open) return kind.prepare(values, inputs, out);
  const opened_stage opened = kind.open(values, out);
  return out.has_errors() ? prepared_stage() : opened.prepare(values, inputs, out);
}

prepared_stage prepare(const stage_kind& kind, const std::string& yaml,
                       const std::vector<tensor_type>& inputs) {
  return prepared(kind, read_arguments(kind, yaml), inputs);
}

std::vector<float> some_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(generator() >> 40) * 0x1.0p-23F - 1.0F;
  }
  return values;
}

tensor_type floats(const shape& s) {
  return {s, dtype::float32};
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(d)) return d;
    apart = std::max(apart, d);
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return largest > 0 ? apart / largest : apart;
}

stage_trial::stage_trial(const stage_kind& kind, const arguments& values,
                         const std::vector<tensor_type>& inputs, int threads, int slots)
    : stage_trial(std::shared_ptr<device>(open_host_device(threads)), kind, values, inputs, slots) {
}

stage_trial::stage_trial(const stage_kind& kind, const std::string& yaml,
                         const std::vector<tensor_type>& inputs, int threads, int slots)
    : stage_trial(kind, read_arguments(kind, yaml), inputs, threads, slots) {}

stage_trial::stage_trial(std::shared_ptr<device> on, const stage_kind& kind,
                         const arguments& values, const std::vector<tensor_type>& inputs, int slots,
                         const std::vector<tensor_layout>& output_layouts)
    : device_(std::move(on)), stream_(device_->make_stream("trial", priority::normal)) {
  const prepared_stage stage = prepared(kind, values, inputs);
  output_types_ = stage.outputs;
  const auto specific = stage.make_device.find(device_->properties().backend);
  const auto& make =
      specific != stage.make_device.end() ? specific->second : stage.make_device.at("");
  stage_ = make(*device_, {.name = "trial",
                           .arguments = values,
                           .inputs = inputs,
                           .outputs = output_types_,
                           .output_layouts = output_layouts,
                           .seed = 1});
  for (int i = 0; i < slots; ++i) {
    slot_data& slot = slots_.emplace_back();
    stage_tensors tensors;
    for (const tensor_type& type : inputs) {
      slot.inputs.push_back(device_->allocate(type.bytes()));
      tensors.inputs.push_back({slot.inputs.back().data(), type});
    }
    for (const tensor_type& type : output_types_) {
      slot.outputs.push_back(device_->allocate(type.bytes()));
      tensors.outputs.push_back({slot.outputs.back().data(), type});
    }
    if (stage_->scratch_bytes() > 0) slot.scratch = device_->allocate(stage_->scratch_bytes());
    tensors.scratch = slot.scratch.data();
    slot.work = stage_->bind(tensors);
    poison(i);
  }
}

void stage_trial::poison(int number) {
  const auto fill = [this](const memory& filled) {
    if (filled.bytes() > 0) stream_->fill(filled.data(), std::byte{0xff}, filled.bytes());
  };
  std::ranges::for_each(slot(number).outputs, fill);
  fill(slot(number).scratch);
  wait();
}

void stage_trial::set_input(std::size_t input, const std::vector<float>& values, int number) {
  const memory& to = slot(number).inputs.at(input);
  if (to.bytes() < values.size() * sizeof(float)) throw std::logic_error("too many values");
  stream_->copy(to.data(), values.data(), values.size() * sizeof(float));
  wait();
}

void stage_trial::set_inputs(const std::vector<std::vector<float>>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) set_input(i, inputs[i]);
  poison();
}

void stage_trial::enqueue(int number) {
  slot(number).work->enqueue(*stream_);
}

void stage_trial::enqueue_in_parts(part_marker& marker, int number) {
  slot(number).work->enqueue_in_parts(*stream_, marker);
}

std::size_t stage_trial::enqueue_in_parts(int number) {
  struct counter final : part_marker {
    void part_enqueued(stream&) override { ++parts; }
    std::size_t parts = 0;
  } marked;
  enqueue_in_parts(marked, number);
  return marked.parts;
}

std::vector<float> stage_trial::output(int number, std::size_t which) {
  const tensor_type& type = output_types_.at(which);
  std::vector<float> values(type.bytes() / sizeof(float));
  stream_->copy(values.data(), slot(number).outputs[which].data(), type.bytes());
  wait();
  return values;
}

std::unique_ptr<graph> stage_trial::capture(int number) {
  return device_->capture(*stream_, [&] { enqueue(number); });
}

std::vector<std::string> stage_trial::operations() {
  std::vector<std::string> names;
  for (const graph_node& operation : capture()->nodes()) names.push_back(operation.name);
  return names;
}

std::vector<float> stage_trial::run(const std::vector<std::vector<float>>& inputs) {
  set_inputs(inputs);
  enqueue();
  return output();
}

std::vector<float> stage_trial::run_graph(const std::vector<std::vector<float>>& inputs) {
  const auto executable = capture()->instantiate();
  set_inputs(inputs);
  launch(*executable);
  return output();
}

}  // namespace graphline::test
