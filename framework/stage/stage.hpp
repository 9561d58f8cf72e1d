#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/cost.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/precision.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/device/device.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// A layer of a stage, for listings.
struct layer_summary {
  std::string name;  ///< "0.conv2d", or the name in the file
  std::string kind;
  tensor_type output;
  graphline::cost cost;
};

/// Which parts of a cost are known. All other parts are unknown, not zero.
enum class known_cost {
  none,
  bytes,  ///< bytes and parameters, but no arithmetic
  all,
};

/// How a stage prefers to store tensors. Used if a tensor's producer and all its readers agree.
struct device_form {
  bool channels_last = false;  ///< store tensors [n, c, h, w] as [n, h, w, c]; otherwise row-major
  /// Type in memory of float32 elements; empty if a producer writes the type that its readers take.
  std::optional<dtype> element = dtype::float32;
};

class shared_constants;

/// What a stage's factory needs in addition to the result of `prepare`.
struct stage_config {
  std::string name;                               ///< name of the stage in the pipeline
  graphline::arguments arguments;                 ///< values of the kind's parameters
  std::vector<tensor_type> inputs;                ///< in the order of `reads`, as stored in memory
  std::vector<tensor_type> outputs;               ///< in the order of `writes`, as stored in memory
  std::vector<tensor_layout> input_layouts = {};  ///< for each input; empty if all are row-major
  std::vector<tensor_layout> output_layouts = {};  ///< for each output; empty if all are row-major
  std::uint64_t seed = 1;                          ///< already mixed with the stage's name
  /// Device memory shared by the stages made for the buckets of one stage; null without buckets.
  std::shared_ptr<shared_constants> constants = nullptr;
};

/// Arguments of a CPU stage for one frame. With `rows:`, tensors of ports with rows have as many
/// rows as the frame, at least one; what lies behind them is undefined.
struct cpu_call {
  std::int64_t frame = 0;  ///< from 0, with warm-up frames; the first of those that run together
  std::span<const const_tensor_view> inputs;
  std::span<const tensor_view> outputs;
  std::int64_t frames = 1;  ///< number of frames that run together, with `batch_frames`
};

/// A CPU stage. One object runs all frames, in order and one at a time. An exception ends the run
/// with a message that names the stage and the frame.
class cpu_stage {
 public:
  virtual ~cpu_stage() = default;
  virtual void run(const cpu_call& call) = 0;
};

/// A CPU stage that first waits for something outside of the pipeline. The wait does not occupy a
/// worker, and is no part of the stage's time.
class awaiting_stage : public cpu_stage {
 public:
  /// Waits until `run` will not wait. For one frame at a time, as for `run`.
  virtual void await() = 0;

  /// Returns true if `run` will not wait. Otherwise calls `then` once that is so, on any thread.
  virtual bool is_ready(const std::function<void()>& then) = 0;

  /// Ends all waits, because the run has failed. `run` then throws `interrupted_error`.
  virtual void cancel() noexcept = 0;
};

/// The tensors of a device stage in one slot, fixed for the whole run. They are in device memory,
/// except that a `copy` reads or writes pinned host memory.
struct stage_tensors {
  std::vector<tensor_view> inputs;
  std::vector<tensor_view> outputs;
  void* scratch = nullptr;  ///< device memory of `scratch_bytes()` bytes, aligned to 256 bytes
};

/// A part of a device stage that is timed separately, for example a network layer with the
/// activation fused into it.
struct stage_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< implementation of the part: "cuDNN engine 8, workspace 2 MiB"
  /// Cost of the implementation; empty if unknown. Fused layers move no bytes between each other.
  std::optional<graphline::cost> cost = {};
  precision arithmetic = precision::float32;  ///< precision of the part's products
};

/// Called after each part of a stage is enqueued.
class part_marker {
 public:
  virtual ~part_marker() = default;
  virtual void part_enqueued(stream& s) = 0;
};

/// A device stage bound to the tensors of one slot.
class device_work {
 public:
  virtual ~device_work() = default;

  /// Enqueues the work of one frame. With graphs, it is called only during preparation. Without
  /// graphs, it is also called for every frame, so it must not allocate.
  virtual void enqueue(stream& s) = 0;

  /// Enqueues the same work and calls `marker` after each of the stage's `parts()`, in order.
  virtual void enqueue_in_parts(stream& s, part_marker& /*marker*/) { enqueue(s); }
};

/// A device stage with its weights on the device and its library plans chosen.
class device_stage {
 public:
  virtual ~device_stage() = default;

  /// Returns the bytes of device memory that one slot needs while the stage runs.
  virtual std::size_t scratch_bytes() const { return 0; }

  /// Returns the parts in order; empty for a stage without parts.
  virtual std::vector<stage_part> parts() const { return {}; }

  /// Binds the stage to a slot's tensors, once per slot. The tensors and the stage outlive the
  /// result.
  virtual std::unique_ptr<device_work> bind(const stage_tensors& tensors) = 0;
};

/// A tensor that a kind reads or writes.
struct port {
  std::string name;
  std::string help;
  /// The first extent counts rows that the kind computes independently of each other, so that a
  /// stage with `rows:` can be given the first rows of the tensor only.
  bool rows = false;
};

struct stage_ports {
  std::vector<port> inputs;
  std::vector<port> outputs;
};

using cpu_stage_factory = std::function<std::unique_ptr<cpu_stage>(const stage_config&)>;
using device_stage_factory =
    std::function<std::unique_ptr<device_stage>(device&, const stage_config&)>;

/// Everything that a kind computes from a stage's arguments and input types. The planner makes it
/// once; plans and runs share it and do not change it. `prepare` reads the files that the arguments
/// name, and the factories capture the contents.
struct prepared_stage {
  std::vector<tensor_type> outputs = {};  ///< one type for each output port
  graphline::cost cost = {};
  known_cost known = known_cost::none;     ///< which parts of `cost` are known
  std::vector<layer_summary> layers = {};  ///< empty for stages without layers

  /// Why the outputs' rows are not independent, although the ports have rows: `check` reports it
  /// for a stage with `rows:`. Empty if they are independent.
  std::string combined_rows = {};

  /// Of outputs with a number of rows that does not count along the first dimension of their
  /// tensor, by output port: what they count. A stage cannot have them as `rows:`.
  std::map<std::size_t, std::string> other_counts = {};

  /// Preferred storage of the stage's device tensors, by backend. Row-major float32 for others.
  std::map<std::string, device_form> forms = {};

  /// Returns the weights that the factories use, for `--save-tensors`; unset without weights.
  std::function<std::vector<named_tensor>(const stage_config&)> weights = {};

  cpu_stage_factory make_cpu = {};                               ///< for a CPU stage
  std::map<std::string, device_stage_factory> make_device = {};  ///< one for each of `backends`
};

/// Prepares a stage from its arguments and input types. Reports errors to `out` at the argument's
/// place. The result is ignored after an error.
using prepare_function = std::function<prepared_stage(
    const arguments&, std::span<const tensor_type> inputs, diagnostics& out)>;

/// Result of `stage_kind::open`: a stage whose ports are known but whose input types are not.
struct opened_stage {
  stage_ports ports;
  prepare_function prepare;  ///< called with the same arguments
};

/// A stage type, as data. stages/builtin.cpp lists the built-in kinds; programs and plug-ins add
/// more to a `stage_registry`. Each kind has either `prepare` or `open`.
struct stage_kind {
  std::string name;      ///< "network", "cpu.top_k"
  std::string headline;  ///< one line for `graphline stages`
  side on = side::cpu;
  bool moves = false;  ///< moves tensors between the device and the CPU, as `copy` does
  std::vector<port> inputs;
  std::size_t optional_inputs = 0;  ///< number of trailing inputs that may be omitted
  bool repeat_last_input = false;   ///< the last input may be repeated any number of times
  std::vector<port> outputs;
  std::vector<parameter> parameters;

  prepare_function prepare = {};

  /// Replaces `prepare` if the ports depend on the arguments, for example on a model file; `inputs`
  /// and `outputs` then only document the ports. Reads the files that the arguments name. The
  /// `prepare` that it returns captures the contents. Reports errors to `out`.
  std::function<opened_stage(const arguments&, diagnostics& out)> open = {};

  /// Backends for device stages of this kind; "" stands for every backend.
  std::vector<std::string> backends = {};

  /// Names and versions of the libraries that compute the stage, by backend; shown in results.
  std::map<std::string, std::function<std::vector<std::pair<std::string, std::string>>()>>
      libraries = {};

  /// More lines for `graphline stages KIND`, such as the layers of `network`; may be unset.
  std::function<std::string()> manual;

  /// The plug-in's file, set by `load_plugin`; empty for other kinds.
  std::string origin = {};
};

}  // namespace graphline
