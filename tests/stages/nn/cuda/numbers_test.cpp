// Results of networks lowered for `cuda` against the host: every layer, whole networks, every
// precision, and libraries that fuse everything, nothing, or some.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stages/kinds.hpp"
#include "tests/stages/network/reference_cases.hpp"
#include "tests/stages/nn/cuda/cpu_network.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

using namespace nn;

namespace {

std::vector<reference_case> all_cases() {
  std::vector<reference_case> cases = reference_cases();
  for (reference_case& further : cases_in(GRAPHLINE_TEST_DIR "/further_cases.yaml"))
    cases.push_back(std::move(further));
  return cases;
}

/// What a library fuses.
struct fusing {
  const char* name;
  std::function<bool(const convolution_form&)> convolution;
  std::function<bool(const product_form&)> product;
  std::function<bool(const attention_form&)> attention = {};
};

std::vector<fusing> ways_to_fuse() {
  const auto has = [](const std::vector<pointwise_layer>& chain, const pointwise_layer& function) {
    return std::find(chain.begin(), chain.end(), function) != chain.end();
  };
  return {
      {"everything", {}, {}},
      {"nothing",
       [](const convolution_form& form) {
         return !form.conv.bias && !form.add && form.before.empty();
       },
       [](const product_form& form) { return !form.bias && !form.add && form.activations.empty(); },
       [](const attention_form&) { return false; }},
      {"the bias", [](const convolution_form& form) { return !form.add && form.before.empty(); },
       [](const product_form& form) { return !form.add && form.activations.empty(); }},
      {"activations, but no add", [](const convolution_form& form) { return !form.add; },
       [](const product_form& form) { return !form.add; }},
      {"one activation other than the exact gelu, and nothing after an add",
       [has](const convolution_form& form) {
         return form.before.size() < 2 && form.after.empty() &&
                !has(form.before, pointwise_layer{pointwise_function::gelu_erf});
       },
       [has](const product_form& form) {
         return form.activations.size() < 2 &&
                !has(form.activations, pointwise_layer{pointwise_function::gelu_erf});
       }}};
}

/// How a network computes.
struct computing {
  std::string name;
  precision p;
  tensor_layout layout = tensor_layout::channels_last;  ///< of convolutions

  /// Makes a library accept convolutions in this layout only, of those that `rule` accepts.
  void limit(reference_library& library,
             const std::function<bool(const convolution_form&)>& rule = {}) const {
    library.takes_convolution = [layout = layout, rule](const convolution_form& form) {
      return form.layout == layout && (!rule || rule(form));
    };
  }
};

std::vector<computing> ways_to_compute() {
  std::vector<computing> ways{{"float32 in NCHW", precision::float32, tensor_layout::row_major}};
  for (const auto& [word, p] : precision_words) ways.push_back({std::string(word), p});
  return ways;
}

/// a - b| / |b| in the Euclidean norm.
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

/// A few roundings to the precision's 24, 11 or 8 bits.
double tolerance(precision p) {
  if (element_bytes(p) == 4) return 1e-5;
  return p == precision::float16 ? 3e-3 : 8 * 3e-3;
}

using values_of_tensors = std::vector<std::vector<float>>;

class network_numbers : public testing::TestWithParam<reference_case> {
 protected:
  void SetUp() override {
    for (const tensor_type& type : types_) {
      inputs_.push_back(some_values(type.shape.elements(), inputs_.size() + 1));
    }
    stage_trial trial(kind_, values_, types_);
    trial.run(inputs_);
    for (std::size_t i = 0; i < GetParam().outputs.size(); ++i) {
      expected_.push_back(trial.output(0, i));
    }
  }

  void expect_near(const values_of_tensors& results, precision p, const std::string& what) const {
    ASSERT_EQ(results.size(), expected_.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_LE(relative_error(results[i], expected_[i]), tolerance(p)) << what << ", output " << i;
    }
  }

  const stage_kind kind_ = network_kind();
  const arguments values_ = GetParam().values;
  const std::vector<tensor_type> types_ = GetParam().types;
  values_of_tensors inputs_;
  values_of_tensors expected_;
};

TEST_P(network_numbers, agree_with_the_host_in_every_precision_however_much_is_fused) {
  for (const fusing& way : ways_to_fuse()) {
    for (const computing& how : ways_to_compute()) {
      reference_library library;
      how.limit(library, way.convolution);
      library.takes_product = way.product;
      library.takes_attention = way.attention;
      cpu_network network(values_, types_, library, how.p);
      expect_near(network.run(inputs_), how.p, how.name + ", the library fuses " + way.name);
    }
  }
}

/// Reorders [n, c, h, w] to [n, h, w, c] or back.
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
  for (const computing& how : ways_to_compute()) {
    const auto agreed = [element = element_of(how.p)](const shape& s) {
      return value_form{s.rank() == 4 ? tensor_layout::channels_last : tensor_layout::row_major,
                        element};
    };
    reference_library library;
    how.limit(library);
    const network_definition probe = cpu_network(values_, types_, library, how.p).network();
    std::vector<value_form> in;
    std::vector<value_form> out;
    values_of_tensors given = inputs_;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      in.push_back(agreed(types_[i].shape));
      if (types_[i].shape.rank() == 4) given[i] = relaid(given[i], types_[i].shape, true);
    }
    for (const std::size_t value : probe.outputs) out.push_back(agreed(probe.shape_of(value)));
    cpu_network network(values_, types_, library, how.p, in, out);
    values_of_tensors results = network.run(given, guard::before);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const shape& s = probe.shape_of(probe.outputs[i]);
      if (s.rank() == 4) results[i] = relaid(results[i], s, false);
    }
    expect_near(results, how.p, how.name);
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
