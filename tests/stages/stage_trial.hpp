#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/spec/node.hpp"
#include "framework/stage/stage.hpp"

namespace graphline::test {

/// Parses YAML text. @throws on errors
node parse(const std::string& yaml);

/// A file of the stored references, from the folder GRAPHLINE_REFERENCES or from the sources.
/// @throws if the folder does not exist
std::string reference_file(const std::string& name);

/// A kind's arguments from YAML text. @throws on errors
arguments read_arguments(const stage_kind& kind, const std::string& yaml);

/// All diagnostics of a stage, one per line.
std::string problems_of(const stage_kind& kind, const std::string& yaml,
                        const std::vector<tensor_type>& inputs);

/// Opens and prepares a stage as the planner does.
prepared_stage prepare(const stage_kind& kind, const arguments& values,
                       const std::vector<tensor_type>& inputs, diagnostics& out);

/// The same for arguments without errors.
prepared_stage prepare(const stage_kind& kind, const std::string& yaml,
                       const std::vector<tensor_type>& inputs);

/// Different values from -1 to 1, the same on every call.
std::vector<float> some_values(std::int64_t count, std::uint64_t seed = 1);

/// A float32 type.
tensor_type floats(const shape& s);

/// max|a - b| / max|b|.
double difference(const std::vector<float>& a, const std::vector<float>& b);

/// A device stage on a device, with several slots.
class stage_trial {
 public:
  /// On a `host` device of its own.
  stage_trial(const stage_kind& kind, const arguments& values,
              const std::vector<tensor_type>& inputs, int threads = 1, int slots = 1);
  stage_trial(const stage_kind& kind, const std::string& yaml,
              const std::vector<tensor_type>& inputs, int threads = 1, int slots = 1);

  stage_trial(std::shared_ptr<device> on, const stage_kind& kind, const arguments& values,
              const std::vector<tensor_type>& inputs, int slots = 1,
              const std::vector<tensor_layout>& output_layouts = {});

  /// Fills a slot's scratch and outputs with NaNs, so that reading them too early shows.
  void poison(int slot = 0);

  void set_input(std::size_t input, const std::vector<float>& values, int slot = 0);

  /// Enqueues a slot's work, without waiting.
  void enqueue(int slot = 0);

  /// Enqueues a slot's work in parts and returns the number of marked parts.
  std::size_t enqueue_in_parts(int slot = 0);
  void enqueue_in_parts(part_marker& marker, int slot = 0);
  void wait() { device_->synchronize(wait_mode::block); }

  /// Waits, and reads. An int64 is returned as two floats with its bits.
  std::vector<float> output(int slot = 0, std::size_t which = 0);

  /// The work of a slot as a graph.
  std::unique_ptr<graph> capture(int slot = 0);
  void launch(graph_exec& g) { stream_->launch(g); }

  /// The names of the operations of the work, in order.
  std::vector<std::string> operations();

  /// Poisons, runs on these inputs, waits and reads the first output.
  std::vector<float> run(const std::vector<std::vector<float>>& inputs);

  /// The same, by a graph of the work.
  std::vector<float> run_graph(const std::vector<std::vector<float>>& inputs);

  device& on() { return *device_; }
  std::size_t scratch_bytes() const { return stage_->scratch_bytes(); }
  std::vector<stage_part> parts() const { return stage_->parts(); }

 private:
  struct slot_data {
    std::vector<memory> inputs;
    std::vector<memory> outputs;
    memory scratch;
    std::unique_ptr<device_work> work;
  };
  slot_data& slot(int number) { return slots_.at(static_cast<std::size_t>(number)); }
  void set_inputs(const std::vector<std::vector<float>>& inputs);

  std::shared_ptr<device> device_;
  std::unique_ptr<stream> stream_;
  std::vector<tensor_type> output_types_;
  std::unique_ptr<device_stage> stage_;
  std::vector<slot_data> slots_;
};

}  // namespace graphline::test
