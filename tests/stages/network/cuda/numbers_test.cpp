// What a network lowered for `cuda` computes, against the host backend: every layer, whole
// networks, every precision, and a library that fuses everything, nothing, or some of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/network/cuda/cpu_network.hpp"
#include "tests/stages/network/cuda/cuda_cases.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

std::vector<reference_case> all_cases() {
  std::vector<reference_case> cases = cases_on_cuda();
  for (reference_case& further : cases_in(GRAPHLINE_TEST_DIR "/further_cases.yaml"))
    cases.push_back(std::move(further));
  return cases;
}

TEST(layers_without_kernels, are_refused_on_cuda) {
  for (const std::string& kind : layers_not_on_cuda()) {
    const std::vector<reference_case> without = cases_with_only(kind);
    EXPECT_FALSE(without.empty()) << "no reference case for " << kind;
    for (const reference_case& wanted : without) {
      reference_library library;
      EXPECT_THROW(cpu_network(wanted.values, wanted.types.at(0).shape, library), run_error)
          << wanted.name << " runs: take '" << kind << "' off layers_not_on_cuda()";
    }
  }
}

/// What a library fuses.
struct fusing {
  const char* name;
  std::function<bool(const convolution_form&)> convolution;
  std::function<bool(const product_form&)> product;
};

std::vector<fusing> ways_to_fuse() {
  const auto has = [](const std::vector<activation>& chain, activation function) {
    return std::find(chain.begin(), chain.end(), function) != chain.end();
  };
  return {
      {"everything", {}, {}},
      {"nothing",
       [](const convolution_form& form) {
         return !form.conv.bias && !form.add && form.before.empty();
       },
       [](const product_form& form) { return !form.bias && form.activations.empty(); }},
      {"the bias", [](const convolution_form& form) { return !form.add && form.before.empty(); },
       [](const product_form& form) { return form.activations.empty(); }},
      {"activations, but no add", [](const convolution_form& form) { return !form.add; }, {}},
      {"one activation other than the exact gelu, and nothing after an add",
       [has](const convolution_form& form) {
         return form.before.size() < 2 && form.after.empty() &&
                !has(form.before, activation::gelu_erf);
       },
       [has](const product_form& form) {
         return form.activations.size() < 2 && !has(form.activations, activation::gelu_erf);
       }}};
}

/// |a - b| / |b|, as lengths of vectors.
double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    apart += d * d;
    length += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(apart / length);
}

/// A few roundings to the precision's elements: of 24, 11 or 8 bits.
double tolerance(precision p) {
  if (element_bytes(p) == 4) return 1e-5;
  return p == precision::float16 ? 3e-3 : 8 * 3e-3;
}

class network_numbers : public testing::TestWithParam<reference_case> {
 protected:
  void SetUp() override {
    stage_trial trial(kind_, values_, GetParam().types);
    expected_ = trial.run({input_});
  }

  const stage_kind kind_ = network_kind();
  const arguments values_ = GetParam().values;
  const shape shape_ = GetParam().types.at(0).shape;
  const std::vector<float> input_ = some_values(shape_.elements());
  std::vector<float> expected_;
};

TEST_P(network_numbers, agree_with_the_host_in_every_precision_however_much_is_fused) {
  for (const fusing& way : ways_to_fuse()) {
    for (const auto& [word, p] : precision_words) {
      reference_library library;
      library.takes_convolution = way.convolution;
      library.takes_product = way.product;
      cpu_network network(values_, shape_, library, p);
      EXPECT_LE(relative_error(network.run(input_), expected_), tolerance(p))
          << word << ", the library fuses " << way.name;
    }
  }
}

/// Elements of [n, c, h, w] as [n, h, w, c], or back.
std::vector<float> relaid(const std::vector<float>& values, const shape& s, bool to_channels_last) {
  std::vector<float> result(values.size());
  const std::int64_t pixels = s[2] * s[3];
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    const std::int64_t image = i / (s[1] * pixels);
    const std::int64_t channel = i / pixels % s[1];
    const auto last = static_cast<std::size_t>((image * pixels + i % pixels) * s[1] + channel);
    const auto first = static_cast<std::size_t>(i);
    if (to_channels_last) {
      result[last] = values[first];
    } else {
      result[first] = values[last];
    }
  }
  return result;
}

TEST_P(network_numbers, agree_with_tensors_around_them_in_the_form_agreed_on) {
  const shape& in = shape_;
  const bool images = in.rank() == 4;
  for (const auto& [word, p] : precision_words) {
    reference_library library;
    cpu_network probe(values_, in, library, p);
    const shape& out = probe.network().shape_of(probe.network().outputs.at(0));
    const bool gives_images = out.rank() == 4;
    const auto agreed = [element = element_of(p)](bool of_images) {
      return value_form{of_images ? tensor_layout::channels_last : tensor_layout::row_major,
                        element};
    };
    cpu_network network(values_, in, library, p, agreed(images), agreed(gives_images));
    std::vector<float> result =
        network.run(images ? relaid(input_, in, true) : input_, guard::before);
    if (gives_images) result = relaid(result, out, false);
    EXPECT_LE(relative_error(result, expected_), tolerance(p)) << word;
  }
}

INSTANTIATE_TEST_SUITE_P(cuda, network_numbers, testing::ValuesIn(all_cases()),
                         [](const auto& given) { return given.param.name; });

TEST(network_numbers_of_images, agree_where_the_library_refuses_padded_channels) {
  const stage_kind kind = network_kind();
  const arguments values =
      read_arguments(kind, "layers: [conv2d: {out_channels: 20, kernel: 3}, gelu]");
  const shape image{2, 3, 9, 9};
  const std::vector<float> input = some_values(image.elements());
  stage_trial trial(kind, values, {floats(image)});
  reference_library library;
  library.takes_convolution = [](const convolution_form& form) { return form.in_channels == 3; };
  cpu_network network(values, image, library, precision::float16);
  EXPECT_LE(relative_error(network.run(input), trial.run({input})), tolerance(precision::float16));
}

}  // namespace

}  // namespace graphline::test
