#include "tests/bench/two_models/hand_written.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "tests/bench/two_models/check.hpp"
#include "tests/bench/two_models/convolution.hpp"
#include "tests/bench/two_models/kernels.hpp"
#include "tests/bench/two_models/product.hpp"
#include "tests/bench/two_models/tensor_file.hpp"

namespace two_models {
namespace {

using graphline::precision;

/// Device memory of T; stays until the program ends.
template <class T>
T* allocate(std::size_t count) {
  void* made = nullptr;
  check(cudaMalloc(&made, count * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(made);
}

template <class T>
class networks final : public hand_written {
 public:
  networks(std::string tensors, precision p) : folder_(std::move(tensors)), precision_(p) {
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
          "cudaStreamCreateWithPriority");
    check(cudaEventCreateWithFlags(&done_, cudaEventBlockingSync | cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    make_backbone();
    make_head();
    backbone_ = captured([this] { enqueue_backbone(); });
    head_ = captured([this] { enqueue_head(); });
  }

  void launch_backbone() override { check(cudaGraphLaunch(backbone_, stream_), "cudaGraphLaunch"); }

  void launch_head() override {
    check(cudaGraphLaunch(head_, stream_), "cudaGraphLaunch");
    check(cudaEventRecord(done_, stream_), "cudaEventRecord");
  }

  void wait() override { check(cudaEventSynchronize(done_), "cudaEventSynchronize"); }

  std::vector<float> score() override {
    std::vector<float> result(static_cast<std::size_t>(batch_));
    check(cudaMemcpy(result.data(), score_, result.size() * sizeof(float), cudaMemcpyDefault),
          "cudaMemcpy");
    return result;
  }

  std::string choices() const override {
    return fmt::format("{} input channels, {} ({:.0f} us), {} ({:.0f} us)", padded_,
                       first_->engine(), first_->microseconds(), second_->engine(),
                       second_->microseconds());
  }

 private:
  void copy(float* to, const tensor_file& from) {
    check(cudaMemcpyAsync(to, from.values.data(), from.values.size() * sizeof(float),
                          cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  /// A tensor of the pipeline's, on the device in the precision's type.
  T* load(const tensor_file& file) {
    const std::size_t count = file.values.size();
    auto* const staging = allocate<float>(count);
    T* const result = allocate<T>(count);
    copy(staging, file);
    convert(staging, result, static_cast<long>(count), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaFree(staging), "cudaFree");
    return result;
  }

  /// The weights of a convolution, from [out, in, 3, 3] to [out, 3, 3, padded].
  T* load_weights(const tensor_file& file, int padded) {
    const int out = file.shape[0];
    const int in = file.shape[1];
    tensor_file turned;
    turned.values.resize(static_cast<std::size_t>(out) * 9 * static_cast<std::size_t>(padded));
    std::size_t to = 0;
    for (int o = 0; o < out; ++o) {
      for (int k = 0; k < 9; ++k) {
        for (int c = 0; c < padded; ++c, ++to) {
          if (c < in)
            turned.values[to] = file.values[static_cast<std::size_t>((o * in + c) * 9 + k)];
        }
      }
    }
    return load(turned);
  }

  void make_backbone() {
    const tensor_file image = read_tensor(folder_, "input.image");
    batch_ = image.shape[0];
    channels_ = image.shape[1];
    height_ = image.shape[2];
    width_ = image.shape[3];
    image_ = allocate<float>(image.values.size());
    copy(image_, image);

    const tensor_file weights = read_tensor(folder_, "weight.backbone.0.weight");
    const tensor_file more_weights = read_tensor(folder_, "weight.backbone.2.weight");
    T* const bias = load(read_tensor(folder_, "weight.backbone.0.bias"));
    const int hidden = weights.shape[0];
    // The faster engines want 16 bytes of channels at a time: zeros in those beyond may pay.
    constexpr int aligned = 16 / static_cast<int>(sizeof(T));
    convolution_shape shape{batch_, 0, hidden, height_, width_};
    T* const between =
        allocate<T>(static_cast<std::size_t>(batch_) * hidden *
                    static_cast<std::size_t>(shape.out_height() * shape.out_width()));
    std::string why_not;
    for (const int padded : {channels_, aligned}) {
      shape.in_channels = padded;
      T* const x = allocate<T>(static_cast<std::size_t>(batch_) * height_ * width_ * padded);
      to_channels_last(image_, x, batch_, channels_, padded, height_ * width_, stream_);
      auto candidate = make_convolution(
          shape, precision_, convolution_tensors{x, load_weights(weights, padded), bias, between},
          stream_);
      if (!candidate->usable()) {
        why_not += candidate->why_not();
        continue;
      }
      if (first_ && first_->microseconds() <= candidate->microseconds()) continue;
      first_ = std::move(candidate);
      x_ = x;
      padded_ = padded;
    }
    require(first_ != nullptr, "cuDNN has no engine for the first convolution:" + why_not);
    const convolution_shape next{batch_, hidden, more_weights.shape[0], shape.out_height(),
                                 shape.out_width()};
    features_channels_ = next.out_channels;
    pixels_ = next.out_height() * next.out_width();
    features_ = allocate<T>(static_cast<std::size_t>(batch_) * features_channels_ * pixels_);
    second_ = make_convolution(
        next, precision_,
        convolution_tensors{between, load_weights(more_weights, hidden),
                            load(read_tensor(folder_, "weight.backbone.2.bias")), features_},
        stream_);
    require(second_->usable(),
            "cuDNN has no engine for the second convolution:" + second_->why_not());
  }

  void make_head() {
    const tensor_file first = read_tensor(folder_, "weight.head.2.weight");
    const tensor_file second = read_tensor(folder_, "weight.head.4.weight");
    wide_ = first.shape[0];
    narrow_ = second.shape[0];
    average_ = allocate<T>(static_cast<std::size_t>(batch_) * features_channels_);
    wide_values_ = allocate<T>(static_cast<std::size_t>(batch_) * wide_);
    narrow_values_ = allocate<T>(static_cast<std::size_t>(batch_) * narrow_);
    score_ = allocate<float>(static_cast<std::size_t>(batch_));
    wide_bias_ = load(read_tensor(folder_, "weight.head.2.bias"));
    narrow_bias_ = load(read_tensor(folder_, "weight.head.4.bias"));
    last_weights_ = load(read_tensor(folder_, "weight.head.6.weight"));
    last_bias_ = load(read_tensor(folder_, "weight.head.6.bias"));
    widen_ = make_product(batch_, features_channels_, wide_, precision_, average_, load(first),
                          wide_values_, stream_);
    narrow_down_ = make_product(batch_, wide_, narrow_, precision_, wide_values_, load(second),
                                narrow_values_, stream_);
  }

  void enqueue_backbone() {
    to_channels_last(image_, x_, batch_, channels_, padded_, height_ * width_, stream_);
    first_->enqueue(stream_);
    second_->enqueue(stream_);
  }

  void enqueue_head() {
    average(features_, average_, batch_, pixels_, features_channels_, stream_);
    widen_->enqueue(stream_);
    add_bias_gelu(wide_values_, wide_bias_, batch_, wide_, stream_);
    narrow_down_->enqueue(stream_);
    add_bias_gelu(narrow_values_, narrow_bias_, batch_, narrow_, stream_);
    dot_rows(narrow_values_, last_weights_, last_bias_, score_, batch_, narrow_, stream_);
  }

  /// As a graph, after a first run that loads the code.
  cudaGraphExec_t captured(const std::function<void()>& enqueue) {
    enqueue();
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    enqueue();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t result = nullptr;
    check(cudaGraphInstantiate(&result, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphUpload(result, stream_), "cudaGraphUpload");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return result;
  }

  std::string folder_;
  precision precision_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
  cudaGraphExec_t backbone_ = nullptr;
  cudaGraphExec_t head_ = nullptr;
  int batch_ = 0;
  int channels_ = 0;
  int padded_ = 0;
  int height_ = 0;
  int width_ = 0;
  int features_channels_ = 0;
  int pixels_ = 0;
  int wide_ = 0;
  int narrow_ = 0;
  float* image_ = nullptr;
  T* x_ = nullptr;
  T* features_ = nullptr;
  T* average_ = nullptr;
  T* wide_values_ = nullptr;
  T* narrow_values_ = nullptr;
  T* wide_bias_ = nullptr;
  T* narrow_bias_ = nullptr;
  T* last_weights_ = nullptr;
  T* last_bias_ = nullptr;
  float* score_ = nullptr;
  std::unique_ptr<convolution> first_;
  std::unique_ptr<convolution> second_;
  std::unique_ptr<product> widen_;
  std::unique_ptr<product> narrow_down_;
};

}  // namespace

std::unique_ptr<hand_written> make_hand_written(const std::string& tensors, precision p) {
  if (p == precision::float16) return std::make_unique<networks<__half>>(tensors, p);
  if (p == precision::bfloat16) return std::make_unique<networks<__nv_bfloat16>>(tensors, p);
  return std::make_unique<networks<float>>(tensors, p);
}

}  // namespace two_models
