// The kinds `resize` and `normalize`: on `host`, and their kernels run on the CPU, give what the
// CPU kinds give, which OpenCV and NumPy check.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "stages/nn/weights/float_conversion.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/cpu/stage_trial.hpp"
#include "tests/stages/nn/cuda/cpu_kernels.hpp"

namespace graphline::test {

namespace {

struct batch {
  shape pictures;
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> sizes;  ///< empty if all pictures are whole
};

std::vector<std::uint8_t> random_pixels(const shape& s) {
  std::mt19937 generator(1);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(s.elements()));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(generator());
  return pixels;
}

std::vector<batch> batches(std::int64_t channels) {
  const shape some{3, 31, 45, channels};
  const shape one{1, 60, 80, channels};
  return {{one, random_pixels(one), {}},
          {some, random_pixels(some), {}},
          {some, random_pixels(some), {31, 45, 7, 1, 100, -5}},
          {some, random_pixels(some), {1, 44, 0, 9, 30, 1'000'000}}};
}

std::vector<tensor_type> types_of(const batch& b) {
  std::vector<tensor_type> types{{b.pictures, dtype::uint8}};
  if (!b.sizes.empty()) types.push_back({{b.pictures[0], 2}, dtype::int64});
  return types;
}

/// The bytes of the CPU kind's output.
std::vector<std::byte> expected_of(stage_kind kind, const std::string& yaml, const batch& b) {
  graphline::stage_trial trial(std::move(kind), yaml, types_of(b));
  trial.input(0, b.pixels);
  if (!b.sizes.empty()) trial.input(1, b.sizes);
  return trial.run().output<std::byte>(0);
}

/// The bytes of the device kind's output on `host`, with two compute threads.
std::vector<std::byte> on_host(const stage_kind& kind, const std::string& yaml, const batch& b) {
  diagnostics problems;
  const auto source = std::make_shared<source_text>("trial.yaml", yaml);
  stage_config config;
  config.name = "trial";
  config.inputs = types_of(b);
  config.arguments = bind_arguments(kind.parameters, read_yaml(source, problems), kind.name,
                                    {source, 1, 1, 1}, ".", problems);
  const prepared_stage prepared = kind.prepare(config.arguments, config.inputs, problems);
  problems.throw_if_errors();
  config.outputs = prepared.outputs;
  const auto host = open_host_device(2);
  const auto stage = prepared.make_device.at("host")(*host, config);
  std::vector<std::uint8_t> pixels = b.pixels;
  std::vector<std::int64_t> sizes = b.sizes;
  const guarded<std::byte> written(config.outputs[0].bytes(), guard::behind);
  stage_tensors tensors{{{pixels.data(), config.inputs[0]}}, {{written.data(), config.outputs[0]}}};
  if (!sizes.empty()) tensors.inputs.push_back({sizes.data(), config.inputs[1]});
  const auto work = stage->bind(tensors);
  const auto stream = host->make_stream("trial", priority::normal);
  work->enqueue(*stream);
  host->synchronize(wait_mode::block);
  EXPECT_TRUE(written.alone());
  return written.values();
}

/// The bytes of the kernel's result, `bytes` of them.
std::vector<std::byte> by_kernel(const nn::kernel_form& form, const batch& b, std::size_t bytes) {
  std::vector<std::int64_t> sizes = b.sizes;
  const guarded<std::uint8_t> pixels(b.pixels, guard::behind);
  const guarded<std::byte> written(bytes, guard::behind);
  run_in_every_order(
      form,
      std::array<void*, 3>{pixels.data(), sizes.empty() ? nullptr : sizes.data(), written.data()},
      {written.span()});
  EXPECT_TRUE(written.alone());
  return written.values();
}

TEST(resize_on_devices, gives_the_bits_of_the_cpu_kind) {
  for (const std::int64_t channels : {1, 3, 4}) {
    for (const batch& b : batches(channels)) {
      for (const auto& [height, width] :
           {std::pair{24, 32}, {60, 80}, {61, 79}, {150, 170}, {7, 200}, {1, 1}}) {
        const std::string yaml =
            "{size: [" + std::to_string(height) + ", " + std::to_string(width) + "]}";
        const auto expected = expected_of(resize_kind(), yaml, b);
        EXPECT_EQ(on_host(device_resize_kind(), yaml, b), expected) << yaml;
        const nn::resize_pictures_form form{.batch = b.pictures[0],
                                            .channels = channels,
                                            .in = {b.pictures[1], b.pictures[2]},
                                            .out = {height, width}};
        EXPECT_EQ(by_kernel(form, b, expected.size()), expected) << yaml;
      }
    }
  }
}

float float_of(dtype element, const std::byte* at) {
  std::uint16_t bits = 0;
  float value = 0;
  if (element == dtype::float32) {
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::memcpy(&bits, at, sizeof bits);
  return element == dtype::float16 ? float_from_half(bits) : float_from_bfloat16(bits);
}

TEST(normalize_on_devices, gives_the_numbers_of_the_cpu_kind_in_every_form) {
  const struct {
    std::string yaml;
    std::size_t channels;
  } cases[] = {{"{channels: bgr, mean: [0.5, 0.4, 0.3], std: [0.2, 0.5, 1]}", 3},
               {"{channels: gray, mean: 0.5, std: 0.2}", 1}};
  for (const auto& [yaml, channels] : cases) {
    for (const batch& b : batches(3)) {
      const auto bytes = expected_of(normalize_kind(), yaml, b);
      EXPECT_EQ(on_host(device_normalize_kind(), yaml, b), bytes);
      std::vector<float> expected(bytes.size() / sizeof(float));
      std::memcpy(expected.data(), bytes.data(), bytes.size());
      const std::size_t plane = static_cast<std::size_t>(b.pictures[1] * b.pictures[2]);
      // Numbers are up to 3.5. A GPU rounds once instead of twice.
      for (const auto& [element, error] :
           {std::pair{dtype::float32, 1e-6F}, {dtype::float16, 1e-3F}, {dtype::bfloat16, 8e-3F}}) {
        for (const bool channels_last : {false, true}) {
          nn::normalize_pictures_form form{.to = element,
                                           .channels_last = channels_last,
                                           .batch = b.pictures[0],
                                           .in = {b.pictures[1], b.pictures[2]},
                                           .blue_first = channels == 3,
                                           .gray = channels == 1};
          const std::array mean{0.5F, 0.4F, 0.3F};
          const std::array std{0.2F, 0.5F, 1.0F};
          for (std::size_t c = 0; c < channels; ++c) {
            form.factor[c] = 1 / (255 * std[c]);
            form.offset[c] = -mean[c] / std[c];
          }
          const std::size_t size = size_of(element);
          const auto found = by_kernel(form, b, expected.size() * size);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t picture = i / (channels * plane);
            const std::size_t channel = i / plane % channels;
            const std::size_t at =
                channels_last ? (picture * plane + i % plane) * channels + channel : i;
            ASSERT_NEAR(float_of(element, &found[at * size]), expected[i], error * 2) << i;
          }
        }
      }
    }
  }
}

}  // namespace

}  // namespace graphline::test
