#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/spec/yaml_reader.hpp"
#include "framework/stage/stage.hpp"
#include "tests/base/guarded.hpp"

namespace graphline {

/// A CPU stage made as the planner and a run make it, from parameters in YAML and input types. Each
/// of its tensors ends at a protected page.
class stage_trial {
 public:
  stage_trial(stage_kind kind, const std::string& parameters, std::vector<tensor_type> inputs = {},
              std::uint64_t seed = 1, test::guard at = test::guard::behind)
      : prepared_(prepare(kind, parameters, inputs, seed)) {
    if (problems_.has_errors()) return;
    stage_ = prepared_.make_cpu(config_);
    reserve(inputs, at, input_data_, inputs_);
    reserve(prepared_.outputs, at, output_data_, outputs_);
  }

  /// The messages of all diagnostics. After an error the stage is not made.
  std::vector<std::string> complaints() const {
    std::vector<std::string> messages;
    for (const diagnostic& d : problems_.all()) messages.push_back(d.message);
    return messages;
  }

  const diagnostics& problems() const { return problems_; }
  const prepared_stage& prepared() const { return prepared_; }

  template <class T>
  stage_trial& input(std::size_t index, const std::vector<T>& values) {
    const auto to = input_data_.at(index).span();
    if (values.size() * sizeof(T) != to.size()) {
      throw std::logic_error("values for an input of another size");
    }
    std::memcpy(to.data(), values.data(), to.size());
    return *this;
  }

  stage_trial& run(std::int64_t frame = 0) {
    stage_->run({frame, inputs_, outputs_});
    for (const block& written : output_data_) {
      if (!written.alone()) throw std::logic_error("a stage wrote beside its outputs");
    }
    return *this;
  }

  /// Runs on the first rows of the tensors of ports with rows, each of which then ends at a
  /// protected page, and returns the outputs' bytes.
  std::vector<std::vector<std::byte>> outputs_of_rows(std::int64_t rows) {
    const auto taken = [&](std::vector<tensor_type> types, const std::vector<port>& ports) {
      for (std::size_t i = 0; i < types.size(); ++i) {
        if (ports.at(i).rows) types[i] = first_rows(types[i], rows);
      }
      return types;
    };
    std::deque<block> blocks;
    std::vector<const_tensor_view> inputs;
    std::vector<tensor_view> outputs;
    reserve(taken(config_.inputs, ports_.inputs), test::guard::behind, blocks, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(blocks[i].data(), inputs_[i].data, inputs[i].type.bytes());
    }
    reserve(taken(config_.outputs, ports_.outputs), test::guard::behind, blocks, outputs);
    stage_->run({0, inputs, outputs});
    std::vector<std::vector<std::byte>> written;
    for (std::size_t i = inputs.size(); i < blocks.size(); ++i) {
      if (!blocks[i].alone()) throw std::logic_error("a stage wrote beside its outputs");
      written.push_back(blocks[i].values());
    }
    return written;
  }

  template <class T>
  std::vector<T> output(std::size_t index) const {
    const auto from = output_data_.at(index).span();
    std::vector<T> values(from.size() / sizeof(T));
    std::memcpy(values.data(), from.data(), from.size());
    return values;
  }

 private:
  using block = test::guarded<std::byte>;

  prepared_stage prepare(const stage_kind& kind, const std::string& parameters,
                         const std::vector<tensor_type>& inputs, std::uint64_t seed) {
    const auto source = std::make_shared<source_text>("trial.yaml", parameters);
    config_.name = "trial";
    config_.seed = seed;
    config_.inputs = inputs;
    config_.arguments = bind_arguments(kind.parameters, read_yaml(source, problems_), kind.name,
                                       {source, 1, 1, 1}, ".", problems_);
    if (problems_.has_errors()) return {};
    prepare_function prepare = kind.prepare;
    ports_ = {kind.inputs, kind.outputs};
    if (kind.open) {
      opened_stage opened = kind.open(config_.arguments, problems_);
      prepare = std::move(opened.prepare);
      ports_ = std::move(opened.ports);
    }
    if (problems_.has_errors()) return {};
    prepared_stage prepared = prepare(config_.arguments, inputs, problems_);
    config_.outputs = prepared.outputs;
    return prepared;
  }

  static void reserve(const std::vector<tensor_type>& types, test::guard at,
                      std::deque<block>& blocks, auto& views) {
    for (const tensor_type& type : types) {
      views.push_back({blocks.emplace_back(type.bytes(), at).data(), type});
    }
  }

  diagnostics problems_;
  stage_config config_;
  stage_ports ports_;
  prepared_stage prepared_;
  std::unique_ptr<cpu_stage> stage_;
  std::deque<block> input_data_;
  std::deque<block> output_data_;
  std::vector<const_tensor_view> inputs_;
  std::vector<tensor_view> outputs_;
};

inline std::string reference_path(const std::string& name) {
  return GRAPHLINE_TEST_DIR "/references/" + name;
}

/// A file's bytes.
inline std::string file_contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no such file: " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Values that make_references.py stored.
template <class T>
std::vector<T> reference(const std::string& name) {
  const std::string bytes = file_contents(reference_path(name + ".bin"));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace graphline
