#include "stages/nn/cuda/cudnn_graph.hpp"

// The frontend's JSON library has another version than Graphline's, and graphs are not serialized.
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/cudnn_handle.hpp"
#include "stages/nn/cuda/vendor_libraries.hpp"

// The frontend looks up all cuDNN functions through this handle.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace graphline::nn {
namespace {

namespace fe = cudnn_frontend;
using node = std::shared_ptr<fe::graph::Tensor_attributes>;

/// Returns the most workspace that a plan may take: a share of the device's memory. Each slot of a
/// pipeline has a workspace for its network's largest plan. Not a share of the free memory, which
/// would make the choice of plans depend on what else runs.
std::int64_t workspace_limit() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // clear the error for later calls
    total = 0;
  }
  return std::max(std::int64_t{256} << 20, static_cast<std::int64_t>(total / 16));
}

void load_cudnn() {
  static const bool loaded = [] {
    fe::cudnn_dlhandle = cudnn_library_file().handle();
    return true;
  }();
  static_cast<void>(loaded);
}

using extents = std::array<std::int64_t, 4>;  // batch, channels, height, width

std::vector<std::int64_t> as_vector(const extents& e) {
  return {e.begin(), e.end()};
}

std::vector<std::int64_t> strides_in(tensor_layout layout, const extents& e) {
  const std::int64_t image = e[1] * e[2] * e[3];
  if (layout == tensor_layout::row_major) return {image, e[2] * e[3], e[3], 1};
  return {image, 1, e[1] * e[3], e[1]};
}

fe::DataType_t element_type(precision p) {
  switch (p) {
    case precision::float32:
    case precision::tf32:
      return fe::DataType_t::FLOAT;
    case precision::float16:
      return fe::DataType_t::HALF;
    case precision::bfloat16:
      return fe::DataType_t::BFLOAT16;
  }
  throw std::logic_error("a precision without a cuDNN type");
}

/// Returns the numerical notes that exclude an engine for a precision.
std::vector<fe::NumericalNote_t> forbidden_notes(precision p) {
  using note = fe::NumericalNote_t;
  std::vector<note> notes = {note::NONDETERMINISTIC, note::REDUCED_PRECISION_REDUCTION,
                             note::DOWN_CONVERT_INPUTS};  // to float16: less range than TF32
  if (p == precision::float32) {
    // Tensor cores round operands to TF32; FFT and large Winograd tiles lose digits in their sums.
    notes.insert(notes.end(), {note::TENSOR_CORE, note::FFT, note::WINOGRAD_TILE_6x6,
                               note::WINOGRAD_TILE_13x13});
  }
  return notes;
}

/// Returns true if the status is success; otherwise sets `why_not` to cuDNN's reason.
bool succeeded(fe::error_t status, std::string& why_not) {
  if (status.is_bad()) why_not = reason_in(status.get_message());
  return status.is_good();
}

/// A device that need not be present.
struct described_device {
  std::shared_ptr<fe::DeviceProperties> properties;
  int compute_capability = 0;  ///< 90 for 9.0
};

class form_graph final : public fe::graph::Graph {
 public:
  /// Makes a graph for `device` or, if it is null, for the handle given to `prepare`.
  explicit form_graph(const convolution_form& form, const described_device* device = nullptr)
      : form_graph(form.precision, form.layout, device) {
    const conv2d_layer& conv = form.conv;
    const extents out = {form.batch, conv.out_channels, form.out[0], form.out[1]};
    const node x = operand("x", {form.batch, form.in_channels, form.in[0], form.in[1]});
    const node weights = operand("weights", {conv.out_channels, form.in_channels / conv.groups,
                                             conv.kernel[0], conv.kernel[1]});
    const extent_pair after = conv.padding_after.value_or(conv.padding);
    node y = conv_fprop(x, weights,
                        fe::graph::Conv_fprop_attributes()
                            .set_pre_padding({conv.padding[0], conv.padding[1]})
                            .set_post_padding({after[0], after[1]})
                            .set_stride({conv.stride[0], conv.stride[1]})
                            .set_dilation({conv.dilation[0], conv.dilation[1]}));
    if (conv.bias) y = apply(mode::ADD, y, operand("bias", {1, conv.out_channels, 1, 1}));
    for (const pointwise_layer& layer : form.before) y = apply(layer, y);
    if (form.add) {
      y = apply(mode::ADD, y, operand("added", out));
      for (const pointwise_layer& layer : form.after) y = apply(layer, y);
    }
    return_value(y, as_vector(out), strides_in(layout_, out));
  }

  explicit form_graph(const attention_form& form, const described_device* device = nullptr)
      : form_graph(form.precision, tensor_layout::row_major, device) {
    const std::int64_t dim = form.heads * form.depth;
    const std::vector<std::int64_t> shape{form.batch, form.heads, form.tokens, form.depth};
    const std::vector<std::int64_t> packed{form.tokens * 3 * dim, form.depth, 3 * dim, 1};
    const node q = operand("q", shape, packed);
    const node k = operand("k", shape, packed);
    const node v = operand("v", shape, packed);
    const float scale = 1 / std::sqrt(static_cast<float>(form.depth));
    const auto [y, statistics] =
        sdpa(q, k, v, fe::graph::SDPA_attributes().set_generate_stats(false).set_attn_scale(scale));
    return_value(y, shape, {form.tokens * dim, form.depth, dim, 1});
  }

  /// Tensor ids of a variant pack: the operands in order, then the constants.
  const std::vector<std::int64_t>& ids() const noexcept { return ids_; }

  /// Pointers for `ids()`: to the operands in device memory and the constants in host memory.
  std::vector<void*> addresses(std::span<void* const> operands) {
    std::vector<void*> all(operands.begin(), operands.end());
    for (auto& constant : constants_) {
      all.push_back(std::visit([](auto& value) -> void* { return &value; }, constant.second));
    }
    return all;
  }

  const std::vector<cudnn_candidate>& candidates() const noexcept { return candidates_; }

  /// Validates the graph and lists its candidates. If `handle` is null, uses the graph's device
  /// properties and does not limit workspaces.
  bool prepare(cudnnHandle_t handle, std::string& why_not) {
    if (!succeeded(validate(), why_not) ||
        !succeeded(handle == nullptr ? build_operation_graph() : build_operation_graph(handle),
                   why_not) ||
        !succeeded(collect_pass_by_value_tensors_subtree(constants_), why_not) ||
        !succeeded(create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}),
                   why_not)) {
      return false;
    }
    for (const auto& constant : constants_) ids_.push_back(constant.first);
    if (handle != nullptr) deselect_workspace_greater_than(workspace_limit());
    list_candidates();
    if (candidates_.empty()) {
      why_not = fmt::format("of {} engine configurations offered, none computes in {}",
                            get_execution_plan_count(), to_word(precision_));
    }
    return !candidates_.empty();
  }

  fe::error_t build(std::size_t candidate) { return build_plan_at_index(positions_[candidate]); }

  fe::ExecutionPlan& plan(std::size_t candidate) const {
    return *plans.execution_plans[static_cast<std::size_t>(positions_[candidate])];
  }

  void keep_only(std::size_t candidate) {
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      if (i != candidate) plans.execution_plans[static_cast<std::size_t>(positions_[i])].reset();
    }
  }

 private:
  form_graph(precision p, tensor_layout layout, const described_device* device)
      : precision_(p), layout_(layout) {
    if (device != nullptr) {
      set_device_properties(device->properties);
      set_sm_version(device->compute_capability);
    }
    // CUDA graphs need not retain the plan, because the operation outlives their launches.
    set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
    set_io_data_type(element_type(precision_));
    set_intermediate_data_type(fe::DataType_t::FLOAT);
    set_compute_data_type(fe::DataType_t::FLOAT);
  }

  std::int64_t next_id() const { return static_cast<std::int64_t>(ids_.size()) + 1; }

  node operand(const char* name, const extents& e) {
    return operand(name, as_vector(e), strides_in(layout_, e));
  }

  node operand(const char* name, const std::vector<std::int64_t>& shape,
               const std::vector<std::int64_t>& strides) {
    ids_.push_back(next_id());
    return tensor(fe::graph::Tensor_attributes()
                      .set_name(name)
                      .set_uid(ids_.back())
                      .set_dim(shape)
                      .set_stride(strides));
  }

  void return_value(const node& y, const std::vector<std::int64_t>& shape,
                    const std::vector<std::int64_t>& strides) {
    ids_.push_back(next_id());
    y->set_name("y").set_uid(ids_.back()).set_output(true);
    y->set_data_type(element_type(precision_)).set_dim(shape).set_stride(strides);
  }

  using mode = fe::PointwiseMode_t;

  node apply(mode function, const node& a) {
    return pointwise(a, fe::graph::Pointwise_attributes().set_mode(function));
  }
  node apply(mode function, const node& a, const node& b) {
    return pointwise(a, b, fe::graph::Pointwise_attributes().set_mode(function));
  }
  node apply(mode function, const node& a, float b) { return apply(function, a, tensor(b)); }

  node linear(node a, float factor, float term) {
    if (factor != 1) a = apply(mode::MUL, a, factor);
    return term == 0 ? a : apply(mode::ADD, a, term);
  }

  /// Returns min(max(a, low), high); the type's greatest and least numbers are no limits. With the
  /// limits of RELU_FWD instead, cuDNN 9.19 offers no engine with tensor cores for compute
  /// capability 9.0.
  node between(node a, float low, float high) {
    using limits = std::numeric_limits<float>;
    if (low == 0) {
      a = apply(mode::RELU_FWD, a);
    } else if (low > limits::lowest()) {
      a = apply(mode::MAX, a, low);
    }
    return high < limits::max() ? apply(mode::MIN, a, high) : a;
  }

  node apply(const pointwise_layer& layer, const node& a) {
    switch (layer.function) {
      case pointwise_function::clip:
        return between(a, layer.alpha, layer.beta);
      case pointwise_function::gelu_erf:
        return apply(mode::GELU_FWD, a);
      case pointwise_function::gelu_tanh:
        return apply(mode::GELU_APPROX_TANH_FWD, a);
      case pointwise_function::hard_sigmoid:
        return between(linear(a, layer.alpha, layer.beta), 0, 1);
      case pointwise_function::hard_swish:
        return apply(mode::MUL, a, between(linear(a, 1.0F / 6, 0.5F), 0, 1));
      case pointwise_function::linear:
        return linear(a, layer.alpha, layer.beta);
      case pointwise_function::relu:
        return apply(mode::RELU_FWD, a);
      case pointwise_function::sigmoid:
        return apply(mode::SIGMOID_FWD, a);
      case pointwise_function::silu:
        return apply(mode::SWISH_FWD, a);
      default:
        throw std::logic_error("a function that is not fused");
    }
  }

  void list_candidates() {
    const std::vector<fe::NumericalNote_t> forbidden = forbidden_notes(precision_);
    for (std::size_t i = 0; i < plans.numeric_notes.size(); ++i) {
      const std::vector<fe::NumericalNote_t>& notes = plans.numeric_notes[i];
      if (std::find_first_of(notes.begin(), notes.end(), forbidden.begin(), forbidden.end()) !=
          notes.end()) {
        continue;
      }
      cudnn_candidate candidate;
      const auto position = static_cast<std::int64_t>(i);
      if (get_plan_name_at_index(position, candidate.name).is_bad()) continue;
      const auto same = [&](const cudnn_candidate& c) { return c.name == candidate.name; };
      // The fallback heuristics repeat some entries.
      if (std::any_of(candidates_.begin(), candidates_.end(), same)) continue;
      candidate.tensor_cores =
          std::find(notes.begin(), notes.end(), fe::NumericalNote_t::TENSOR_CORE) != notes.end();
      candidates_.push_back(std::move(candidate));
      positions_.push_back(position);
    }
  }

  precision precision_;
  tensor_layout layout_;
  std::vector<std::int64_t> ids_;
  std::unordered_map<uid_t, pass_by_values_t> constants_;
  std::vector<cudnn_candidate> candidates_;
  std::vector<std::int64_t> positions_;  ///< index of each candidate among the frontend's plans
};

class cudnn_plans final : public plan_choices {
 public:
  template <class Form>
  cudnn_plans(const Form& form, std::shared_ptr<cudnn_handle> handle)
      : handle_(std::move(handle)), graph_(form) {
    if constexpr (requires { form.layout; }) nchw_ = form.layout == tensor_layout::row_major;
  }

  bool prepare(std::string& why_not) {
    leave_stream();
    return graph_.prepare(handle_->get(), why_not);
  }

  std::size_t size() const noexcept override { return graph_.candidates().size(); }

  std::string identity(std::size_t plan) const override { return graph_.candidates()[plan].name; }

  std::string describe(std::size_t plan) const override {
    const cudnn_candidate& candidate = graph_.candidates()[plan];
    // "eng7_k2=4": the engine, then its knobs.
    std::string_view number = std::string_view(candidate.name).substr(3);
    number = number.substr(0, number.find('_'));
    return fmt::format("cuDNN engine {}{}{}", number, nchw_ ? ", NCHW" : "",
                       candidate.tensor_cores ? ", tensor cores" : "");
  }

  bool uses_tensor_cores(std::size_t plan) const override {
    return graph_.candidates()[plan].tensor_cores;
  }

  bool build(std::size_t plan, std::string& why_not) override {
    return succeeded(graph_.build(plan), why_not);
  }

  std::size_t workspace_bytes(std::size_t plan) const override {
    return static_cast<std::size_t>(graph_.plan(plan).getWorkspaceSize());
  }

  void keep_only(std::size_t plan) override {
    leave_stream();
    packs_.clear();  // of the memory on which plans were timed
    graph_.keep_only(plan);
  }

  void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
           void* workspace) override {
    const std::lock_guard lock(handle_->lock());
    fe::detail::backend_descriptor& pack = describe_operands(operands, workspace);
    handle_->use_stream(stream);
    check_cudnn(
        fe::detail::execute(handle_->get(), graph_.plan(plan).get_raw_desc(), pack.get_ptr()),
        "cudnnBackendExecute", handle_->owner());
  }

 private:
  struct operand_pack {
    std::vector<void*> operands;
    void* workspace;
    fe::detail::backend_descriptor pack{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
  };

  /// Resets the handle's stream. Tuning has destroyed its stream, and a new stream may have the
  /// same address.
  void leave_stream() {
    const std::lock_guard lock(handle_->lock());
    handle_->use_stream(nullptr);
  }

  /// Returns the variant pack of these addresses. Makes it at the first call, so that later frames
  /// allocate nothing.
  fe::detail::backend_descriptor& describe_operands(std::span<void* const> operands,
                                                    void* workspace) {
    for (const auto& known : packs_) {
      if (workspace == known->workspace && std::ranges::equal(operands, known->operands)) {
        return known->pack;
      }
    }
    auto made =
        std::make_unique<operand_pack>(operand_pack{{operands.begin(), operands.end()}, workspace});
    check_cudnn(made->pack.get_status(), "cudnnBackendCreateDescriptor", handle_->owner());
    std::vector<void*> addresses = graph_.addresses(operands);
    fe::error_t status =
        fe::detail::create_variant_pack(made->pack, addresses.data(), graph_.ids(), workspace);
    if (status.is_bad()) {
      throw run_error(fmt::format("{}: cuDNN does not take the operands: {}", handle_->owner(),
                                  reason_in(status.get_message())));
    }
    packs_.push_back(std::move(made));
    return packs_.back()->pack;
  }

  bool nchw_ = false;
  std::shared_ptr<cudnn_handle> handle_;
  form_graph graph_;
  std::vector<std::unique_ptr<operand_pack>> packs_;
};

}  // namespace

template <class Form>
std::unique_ptr<plan_choices> make_cudnn_plans(const Form& form,
                                               std::shared_ptr<cudnn_handle> handle,
                                               std::string& why_not) {
  load_cudnn();
  auto plans = std::make_unique<cudnn_plans>(form, std::move(handle));
  if (!plans->prepare(why_not)) return nullptr;
  return plans;
}

template <class Form>
std::vector<cudnn_candidate> offered_candidates(const Form& form,
                                                const std::string& device_properties,
                                                std::string& why_not) {
  load_cudnn();
  const nlohmann::json parsed = nlohmann::json::parse(device_properties);
  const described_device device{std::make_shared<fe::DeviceProperties>(),
                                parsed.at("deviceVer").get<int>() / 10};
  fe::error_t status =
      device.properties->deserialize({device_properties.begin(), device_properties.end()});
  if (status.is_bad()) {
    throw input_error(fmt::format("cuDNN does not take these as a device's properties: {}",
                                  reason_in(status.get_message())));
  }
  form_graph graph(form, &device);
  if (!graph.prepare(nullptr, why_not)) return {};
  return graph.candidates();
}

#define GRAPHLINE_CUDNN_FORM(form)                                                          \
  template std::unique_ptr<plan_choices> make_cudnn_plans(                                  \
      const form&, std::shared_ptr<cudnn_handle>, std::string&);                            \
  template std::vector<cudnn_candidate> offered_candidates(const form&, const std::string&, \
                                                           std::string&);
GRAPHLINE_CUDNN_FORM(convolution_form)
GRAPHLINE_CUDNN_FORM(attention_form)
#undef GRAPHLINE_CUDNN_FORM

std::string cudnn_frontend_version() {
  return fmt::format("{}.{}.{}", CUDNN_FRONTEND_MAJOR_VERSION, CUDNN_FRONTEND_MINOR_VERSION,
                     CUDNN_FRONTEND_PATCH_VERSION);
}

}  // namespace graphline::nn
