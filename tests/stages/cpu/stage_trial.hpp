#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/spec/yaml_reader.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A CPU stage made as a planner makes it, from parameters in YAML and input types, with memory for
/// its tensors.
class stage_trial {
 public:
  stage_trial(stage_kind kind, const std::string& parameters, std::vector<tensor_type> inputs = {},
              std::uint64_t seed = 1)
      : shape_(infer(kind, parameters, inputs, seed)) {
    if (problems_.has_errors()) return;
    stage_ = kind.make_cpu(config_);
    reserve(inputs, input_data_, inputs_);
    reserve(shape_.outputs, output_data_, outputs_);
  }

  /// The messages of everything that is wrong; with any, the stage is not made.
  std::vector<std::string> complaints() const {
    std::vector<std::string> messages;
    for (const diagnostic& d : problems_.all()) messages.push_back(d.message);
    return messages;
  }

  const diagnostics& problems() const { return problems_; }
  const stage_shape& shape() const { return shape_; }

  template <class T>
  stage_trial& input(std::size_t index, const std::vector<T>& values) {
    if (values.size() * sizeof(T) != input_data_.at(index).size()) {
      throw std::logic_error("values for an input of another size");
    }
    std::memcpy(input_data_[index].data(), values.data(), input_data_[index].size());
    return *this;
  }

  stage_trial& run(std::int64_t frame = 0) {
    stage_->run({frame, inputs_, outputs_});
    return *this;
  }

  template <class T>
  std::vector<T> output(std::size_t index) const {
    std::vector<T> values(output_data_.at(index).size() / sizeof(T));
    std::memcpy(values.data(), output_data_[index].data(), output_data_[index].size());
    return values;
  }

 private:
  using block = std::vector<std::byte>;

  stage_shape infer(const stage_kind& kind, const std::string& parameters,
                    const std::vector<tensor_type>& inputs, std::uint64_t seed) {
    const auto source = std::make_shared<source_text>("trial.yaml", parameters);
    config_.name = "trial";
    config_.seed = seed;
    config_.inputs = inputs;
    config_.arguments = bind_arguments(kind.parameters, read_yaml(source, problems_), kind.name,
                                       {source, 1, 1, 1}, ".", problems_);
    if (problems_.has_errors()) return {};
    stage_shape inferred = kind.infer(config_.arguments, inputs, problems_);
    config_.outputs = inferred.outputs;
    return inferred;
  }

  static void reserve(const std::vector<tensor_type>& types, std::vector<block>& blocks,
                      std::vector<tensor_view>& views) {
    for (const tensor_type& type : types) {
      blocks.emplace_back(type.bytes(), std::byte{0xEE});  // so that a gap shows
      views.push_back({blocks.back().data(), type});
    }
  }

  diagnostics problems_;
  stage_config config_;
  stage_shape shape_;
  std::unique_ptr<cpu_stage> stage_;
  std::vector<block> input_data_;
  std::vector<block> output_data_;
  std::vector<tensor_view> inputs_;
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
