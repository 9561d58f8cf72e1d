#include "tests/bench/two_models/convolution.hpp"

#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "stages/cuda/vendor_libraries.hpp"
#include "tests/bench/two_models/check.hpp"

// Where the frontend looks up cuDNN's functions; weak, since Graphline's stages have one as well.
namespace cudnn_frontend {
[[gnu::weak]] void* cudnn_dlhandle = nullptr;
}

namespace two_models {
namespace {

namespace fe = cudnn_frontend;
using graphline::precision;

enum identifier : std::int64_t { id_x = 1, id_weights, id_bias, id_y };

fe::DataType_t element_type(precision p) {
  if (p == precision::float16) return fe::DataType_t::HALF;
  if (p == precision::bfloat16) return fe::DataType_t::BFLOAT16;
  return fe::DataType_t::FLOAT;
}

fe::graph::Tensor_attributes described(std::int64_t id, std::int64_t n, std::int64_t c,
                                       std::int64_t h, std::int64_t w) {
  return fe::graph::Tensor_attributes()
      .set_uid(id)
      .set_dim({n, c, h, w})
      .set_stride({c * h * w, 1, w * c, c});
}

cudnnHandle_t shared_handle() {
  static const cudnnHandle_t handle = [] {
    if (fe::cudnn_dlhandle == nullptr) {
      fe::cudnn_dlhandle = graphline::cudnn_library_file().handle();
    }
    cudnnHandle_t made = nullptr;
    require(fe::detail::create_handle(&made) == CUDNN_STATUS_SUCCESS, "cudnnCreate failed");
    return made;
  }();
  return handle;
}

class cudnn_convolution final : public convolution {
 public:
  cudnn_convolution(const convolution_shape& s, precision p, const convolution_tensors& tensors,
                    cudaStream_t stream)
      : operands_{{id_x, tensors.x},
                  {id_weights, tensors.weights},
                  {id_bias, tensors.bias},
                  {id_y, tensors.y}} {
    const cudnnHandle_t handle = shared_handle();
    describe(s, p);
    if (failed(graph_.validate()) || failed(graph_.build_operation_graph(handle)) ||
        failed(graph_.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}))) {
      return;
    }
    // As precisely as Graphline's, and the same bits each time.
    using note = fe::NumericalNote_t;
    graph_.deselect_numeric_notes(
        {note::NONDETERMINISTIC, note::REDUCED_PRECISION_REDUCTION, note::DOWN_CONVERT_INPUTS});
    if (p == precision::float32) {
      // On tensor cores float32 would be rounded to TF32.
      graph_.deselect_numeric_notes(
          {note::TENSOR_CORE, note::FFT, note::WINOGRAD_TILE_6x6, note::WINOGRAD_TILE_13x13});
    }
    graph_.deselect_workspace_greater_than(std::int64_t{256} << 20);
    choose(stream);
  }

  ~cudnn_convolution() override { static_cast<void>(cudaFree(workspace_)); }

  void enqueue(cudaStream_t stream) override {
    require(fe::detail::set_stream(shared_handle(), stream) == CUDNN_STATUS_SUCCESS,
            "cudnnSetStream failed");
    require(!failed(graph_.execute_plan_at_index(shared_handle(), operands_, workspace_, plan_)),
            "cuDNN's convolution failed:" + reasons_);
  }

  bool usable() const override { return std::isfinite(microseconds_); }
  double microseconds() const override { return double{microseconds_}; }
  const std::string& why_not() const override { return reasons_; }

  std::string engine() const override {
    std::string name;
    static_cast<void>(graph_.get_plan_name_at_index(plan_, name));
    return name;
  }

 private:
  bool failed(fe::error_t status) {  // its accessors are not const
    if (status.is_bad()) reasons_ += "\n  " + status.get_message();
    return status.is_bad();
  }

  void describe(const convolution_shape& s, precision p) {
    graph_.set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
    graph_.set_io_data_type(element_type(p));
    graph_.set_intermediate_data_type(fe::DataType_t::FLOAT);
    graph_.set_compute_data_type(fe::DataType_t::FLOAT);
    const auto x = graph_.tensor(described(id_x, s.batch, s.in_channels, s.in_height, s.in_width));
    const auto weights = graph_.tensor(described(id_weights, s.out_channels, s.in_channels, 3, 3));
    const auto bias = graph_.tensor(described(id_bias, 1, s.out_channels, 1, 1));
    const auto sum = graph_.conv_fprop(
        x, weights,
        fe::graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({2, 2}).set_dilation(
            {1, 1}));
    const auto biased = graph_.pointwise(
        sum, bias, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    const auto y = graph_.pointwise(
        biased, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::GELU_FWD));
    const std::int64_t c = s.out_channels;
    const std::int64_t h = s.out_height();
    const std::int64_t w = s.out_width();
    y->set_uid(id_y).set_output(true).set_data_type(element_type(p));
    y->set_dim({s.batch, c, h, w}).set_stride({c * h * w, 1, w * c, c});
  }

  /// The fastest of those for which there is time. The best guesses come first, and engines for
  /// want of any other last, which are many and slow.
  void choose(cudaStream_t stream) {
    constexpr graphline::nanoseconds patience = 15'000'000'000;
    const graphline::nanoseconds until = graphline::now() + patience;
    void* best_workspace = nullptr;
    std::int64_t best = -1;
    for (std::int64_t plan = 0; plan < graph_.get_execution_plan_count(); ++plan) {
      if (best >= 0 && graphline::now() > until) break;
      if (failed(graph_.build_plan_at_index(plan))) continue;
      const std::int64_t bytes = graph_.get_workspace_size_plan_at_index(plan);
      void* workspace = nullptr;
      if (bytes > 0) ::check(cudaMalloc(&workspace, static_cast<std::size_t>(bytes)), "cudaMalloc");
      plan_ = plan;
      workspace_ = workspace;
      const float us = time(stream);
      if (us < microseconds_) {
        microseconds_ = us;
        std::swap(workspace, best_workspace);
        best = plan;
      }
      static_cast<void>(cudaFree(workspace));
    }
    plan_ = best;
    workspace_ = best_workspace;
  }

  /// The shortest of several runs; infinite for a plan that fails.
  float time(cudaStream_t stream) {
    require(fe::detail::set_stream(shared_handle(), stream) == CUDNN_STATUS_SUCCESS,
            "cudnnSetStream failed");
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    ::check(cudaEventCreate(&begin), "cudaEventCreate");
    ::check(cudaEventCreate(&end), "cudaEventCreate");
    float shortest = std::numeric_limits<float>::infinity();
    for (int run = 0; run < 5; ++run) {
      ::check(cudaEventRecord(begin, stream), "cudaEventRecord");
      if (failed(graph_.execute_plan_at_index(shared_handle(), operands_, workspace_, plan_))) {
        shortest = std::numeric_limits<float>::infinity();
        break;
      }
      ::check(cudaEventRecord(end, stream), "cudaEventRecord");
      ::check(cudaEventSynchronize(end), "cudaEventSynchronize");
      float ms = 0;
      ::check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      if (run > 0) shortest = std::min(shortest, ms * 1000);  // the first loads its code
    }
    ::check(cudaEventDestroy(begin), "cudaEventDestroy");
    ::check(cudaEventDestroy(end), "cudaEventDestroy");
    return shortest;
  }

  fe::graph::Graph graph_;
  std::unordered_map<std::int64_t, void*> operands_;
  std::int64_t plan_ = -1;
  void* workspace_ = nullptr;
  float microseconds_ = std::numeric_limits<float>::infinity();
  std::string reasons_;
};

}  // namespace

std::unique_ptr<convolution> make_convolution(const convolution_shape& shape, precision p,
                                              const convolution_tensors& tensors,
                                              cudaStream_t stream) {
  return std::make_unique<cudnn_convolution>(shape, p, tensors, stream);
}

}  // namespace two_models
