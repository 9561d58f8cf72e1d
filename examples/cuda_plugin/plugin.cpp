// A plug-in with the stage kind my.normalize, and its implementation for the device `host`.

#include <framework/device/host/host_device.hpp>
#include <framework/stage/plugin.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "normalize.hpp"

namespace my {

using namespace graphline;

channel_constants::channel_constants(device& d, const stage_config& config)
    : channels_(config.inputs.at(0).shape[1]) {
  const auto channels = static_cast<std::size_t>(channels_);
  const std::size_t bytes = 2 * channels * sizeof(float);
  values_ = d.allocate(bytes);
  // Asynchronous copies need pinned memory.
  const memory pinned = d.allocate_pinned(bytes);
  auto* to = static_cast<float*>(pinned.data());
  for (const char* name : {"mean", "std"}) {
    const std::vector<double>& given = config.arguments.numbers(name);
    for (std::size_t c = 0; c < channels; ++c) {
      *to++ = static_cast<float>(given[std::min(c, given.size() - 1)]);
    }
  }
  const auto s = d.make_stream("constants of " + config.name, priority::normal);
  s->copy(values_.data(), pinned.data(), bytes);
  d.synchronize(wait_mode::block);
}

normalization channel_constants::on(const stage_tensors& tensors) const {
  const tensor_view& in = tensors.inputs.at(0);
  const shape& extents = in.type.shape;
  const auto* mean = static_cast<const float*>(values_.data());
  return {.in = in.as<float>(),
          .out = tensors.outputs.at(0).as<float>(),
          .mean = mean,
          .deviation = mean + channels_,
          .channels = channels_,
          .planes = extents[0] * extents[1],
          .plane = extents[2] * extents[3]};
}

namespace {

class host_work final : public device_work, host_operation {
 public:
  explicit host_work(const normalization& n) : n_(n) {}

  void enqueue(stream& s) override { host_enqueue(s, *this); }
  std::string_view name() const noexcept override { return "my.normalize"; }
  void run() override { normalize_share(n_, {0, 1, 0, 1, 0, 1}); }

 private:
  normalization n_;
};

class host_stage final : public device_stage {
 public:
  host_stage(device& d, const stage_config& config) : constants_(d, config) {}

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<host_work>(constants_.on(tensors));
  }

 private:
  channel_constants constants_;
};

/// Checks the arguments and input types, computes output types and cost, and returns a factory for
/// each backend.
prepared_stage prepare(const arguments& given, std::span<const tensor_type> inputs,
                       diagnostics& out) {
  const tensor_type& image = inputs[0];
  if (image.element != dtype::float32 || image.shape.rank() != 4) {
    out.error(given.where(), "my.normalize reads float32 [n, c, h, w], found " + to_string(image));
    return {};
  }
  const auto channels = static_cast<std::size_t>(image.shape[1]);
  for (const char* name : {"mean", "std"}) {
    const std::size_t count = given.numbers(name).size();
    if (count == 1 || count == channels) continue;
    out.error(given.where(name), "'" + std::string(name) + "' must hold 1 number or " +
                                     std::to_string(channels) + ", one for each channel, found " +
                                     std::to_string(count));
  }
  for (const double deviation : given.numbers("std")) {
    if (deviation == 0) out.error(given.where("std"), "'std' divides: it must not be 0");
  }
  cost work;
  work.flops = 2 * image.shape.elements();
  work.bytes_read = static_cast<std::int64_t>(image.bytes());
  work.bytes_written = work.bytes_read;
  prepared_stage result{.outputs = {image}, .cost = work, .known = known_cost::all};
  result.make_device["host"] = [](device& d, const stage_config& config) {
    return std::make_unique<host_stage>(d, config);
  };
#ifdef WITH_CUDA
  result.make_device["cuda"] = make_normalize_cuda;
#endif
  return result;
}

stage_kind normalize_kind() {
  stage_kind kind;
  kind.name = "my.normalize";
  kind.headline = "Per channel, subtract a mean and divide by a standard deviation";
  kind.on = side::device;
  // Images are independent, so a stage with `rows:` normalizes only those of the frame.
  kind.inputs = {{.name = "images", .help = "float32 [n, c, h, w]", .rows = true}};
  kind.outputs = {{.name = "normalized", .help = "float32, the same shape", .rows = true}};
  kind.parameters = {{.name = "mean",
                      .type = parameter_type::numbers,
                      .help = "What to subtract, for each channel or for all",
                      .default_value = "0"},
                     {.name = "std",
                      .type = parameter_type::numbers,
                      .help = "What to divide by, likewise",
                      .default_value = "1"}};
  kind.prepare = prepare;
  kind.backends = {"host"};
#ifdef WITH_CUDA
  kind.backends.push_back("cuda");
#endif
  return kind;
}

}  // namespace
}  // namespace my

GRAPHLINE_PLUGIN(registry) {
  registry.add(my::normalize_kind());
}
