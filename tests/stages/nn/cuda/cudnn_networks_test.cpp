// The networks of pipelines/ and of the reference cases, lowered without tuning with the plans that
// cuDNN offers for GPUs that need not be present.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/plan/planner.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "stages/builtin.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/cuda/lowering/lowering.hpp"
#include "tests/stages/network/reference_cases.hpp"
#include "tests/stages/nn/cuda/cudnn_offers.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::nn {
namespace {

namespace fs = std::filesystem;

/// A plan that nothing runs.
struct offered_plan final : library_operation {
  offered_plan(std::optional<convolution_form> planned, bool on_tensor_cores)
      : form(std::move(planned)), tensor_cores(on_tensor_cores) {}
  std::string choice() const override { return "offered"; }
  std::size_t workspace_bytes() const override { return 0; }
  plan_speed speed() const override { return {.tensor_cores = tensor_cores}; }
  void enqueue(void*, std::span<void* const>, void*) override { throw std::logic_error("run"); }

  std::optional<convolution_form> form;  ///< empty for a product
  bool tensor_cores;
};

/// Plans convolutions with cuDNN's first candidate for a GPU, and takes all products.
class offering_library final : public cuda_library {
 public:
  explicit offering_library(std::string gpu) : gpu_(std::move(gpu)) {}

  std::unique_ptr<library_operation> plan(const convolution_form& form,
                                          std::string& why_not) override {
    const std::optional<bool> tensor_cores = first_on_tensor_cores(form);
    if (!tensor_cores || (only && form.layout != *only)) {
      why_not = "cuDNN offers nothing";
      return nullptr;
    }
    return std::make_unique<offered_plan>(form, *tensor_cores);
  }
  std::unique_ptr<library_operation> plan(const product_form&, std::string&) override {
    return std::make_unique<offered_plan>(std::nullopt, true);
  }
  std::unique_ptr<library_operation> plan(const attention_form& form,
                                          std::string& why_not) override {
    const auto candidates = offered_candidates(form, device_properties_of(gpu_), why_not);
    if (candidates.empty()) return nullptr;
    return std::make_unique<offered_plan>(std::nullopt, candidates.front().tensor_cores);
  }
  bool prefers_tensor_cores(const convolution_form& form) override {
    return first_on_tensor_cores(form).value_or(false);
  }
  double memory_bandwidth() const override { return 1e12; }

  std::optional<tensor_layout> only;  ///< if set, refuses convolutions in the other layout

  /// Returns whether the first candidate for a form runs on tensor cores; empty if there is none.
  std::optional<bool> first_on_tensor_cores(const convolution_form& form) {
    auto known = first_.find(to_text(form));
    if (known == first_.end()) {
      std::string why_not;
      const auto candidates = offered_candidates(form, device_properties_of(gpu_), why_not);
      const auto first = candidates.empty() ? std::optional<bool>{} : candidates[0].tensor_cores;
      known = first_.emplace(to_text(form), first).first;
    }
    return known->second;
  }

 private:
  std::string gpu_;
  std::map<std::string, std::optional<bool>> first_;  ///< by form
};

/// Returns true if a form runs on tensor cores with fewer of its fused operations.
bool fused_too_much(convolution_form form, offering_library& library) {
  while (form.conv.bias || form.add || !form.before.empty()) {
    if (!form.after.empty()) {
      form.after.pop_back();
    } else if (form.add) {
      form.add = false;
    } else if (!form.before.empty()) {
      form.before.pop_back();
    } else {
      form.conv.bias = false;
    }
    if (library.first_on_tensor_cores(form).value_or(false)) return true;
  }
  return false;
}

/// Returns the built-in kinds, with networks on `cuda` made by `make`.
stage_registry kinds_with(const network_factory& make) {
  const stage_registry builtin = builtin_stages();
  stage_registry registry;
  for (const stage_kind* kind : builtin.all()) {
    registry.add(kind->name == "network" ? network_kind(make)
                 : kind->name == "onnx"  ? onnx_kind(make)
                                         : *kind);
  }
  return registry;
}

/// Calls `use` with each network of a pipeline on `cuda`; not at all if a model is missing.
void for_each_network(const fs::path& file, const network_factory& use) {
  const stage_registry kinds = kinds_with(use);
  diagnostics out;
  const auto host = open_host_device(1);
  const plan planned =
      make_plan(read_pipeline(read_source(file.string()), {.backend = "cuda"}, out), kinds,
                {.backend = "cuda", .present = false}, out);
  if (out.has_errors()) return;
  for (const planned_stage& stage : planned.stages) {
    if (stage.kind->name != "network" && stage.kind->name != "onnx") continue;
    stage.prepared->make_device.at("cuda")(*host, stage.config);
  }
}

class cudnn_networks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why_not = why_no_cudnn(); !why_not.empty()) GTEST_SKIP() << why_not;
  }

  /// Lowers a network and calls `use` with each planned convolution and its step.
  template <class Use>
  void for_each_convolution(const network_definition& network, const weight_table& weights,
                            const std::string& name, precision p, const Use& use) {
    const auto forms = [&](const std::vector<std::size_t>& values) {
      std::vector<value_form> all;
      for (const std::size_t i : values) {
        all.push_back({tensor_layout::row_major, network.values[i].type.element});
      }
      return all;
    };
    const cuda_program program = lower_network_for_cuda(network, weights,
                                                        {.library = library_,
                                                         .precision = p,
                                                         .owner = "stage '" + name + "'",
                                                         .inputs = forms(network.inputs),
                                                         .outputs = forms(network.outputs)});
    for (const cuda_step& step : program.steps) {
      const auto* work = std::get_if<std::shared_ptr<library_operation>>(&step.work);
      if (work == nullptr) continue;
      const auto& planned = dynamic_cast<const offered_plan&>(**work);
      if (planned.form) use(planned, step);
    }
  }

  /// Lowers a network in precisions that have tensor cores and expects each
  /// convolution on them that cuDNN offers there.
  void expect_tensor_cores(const network_definition& network, const weight_table& weights,
                           const std::string& name) {
    for (const precision p : {precision::tf32, precision::float16}) {
      for_each_convolution(
          network, weights, name, p, [&](const offered_plan& planned, const cuda_step& step) {
            (planned.tensor_cores ? fast_ : slow_) += 1;
            EXPECT_FALSE(!planned.tensor_cores && fused_too_much(*planned.form, library_))
                << step.owner << " in " << to_word(p);
          });
    }
  }

  offering_library library_{GetParam()};
  std::size_t fast_ = 0;  ///< convolutions on tensor cores
  std::size_t slow_ = 0;
};

TEST_P(cudnn_networks, of_pipelines_fuse_nothing_that_costs_the_tensor_cores) {
  for (const auto& file : fs::directory_iterator(GRAPHLINE_SOURCE_DIR "/pipelines")) {
    if (file.path().extension() != ".yaml") continue;
    for_each_network(file.path(), [&](device&, const network_definition& network,
                                      const weight_table& weights, const stage_config& config) {
      expect_tensor_cores(network, weights, file.path().stem().string() + "/" + config.name);
      return nullptr;
    });
  }
  EXPECT_GT(fast_, 200U);
  EXPECT_GT(slow_, 20U);  // above all depthwise ones
}

TEST_P(cudnn_networks, of_pipelines_are_refused_in_neither_layout_in_float32) {
  for (const tensor_layout layout : {tensor_layout::channels_last, tensor_layout::row_major}) {
    library_.only = layout;
    std::size_t convolutions = 0;
    for (const auto& file : fs::directory_iterator(GRAPHLINE_SOURCE_DIR "/pipelines")) {
      if (file.path().extension() != ".yaml") continue;
      for_each_network(file.path(), [&](device&, const network_definition& network,
                                        const weight_table& weights, const stage_config& config) {
        for_each_convolution(network, weights, file.path().stem().string() + "/" + config.name,
                             precision::float32, [&](const offered_plan& planned, const auto&) {
                               EXPECT_EQ(planned.form->layout, layout);
                               ++convolutions;
                             });
        return nullptr;
      });
    }
    EXPECT_GT(convolutions, 100U);
  }
}

TEST_P(cudnn_networks, of_reference_cases_are_refused_nowhere_and_keep_the_tensor_cores) {
  const auto host = open_host_device(1);
  for (const test::reference_case& from : test::reference_cases()) {
    SCOPED_TRACE(from.name);
    const stage_kind kind =
        network_kind([&](device&, const network_definition& network, const weight_table& weights,
                         const stage_config& config) {
          expect_tensor_cores(network, weights, config.name);
          return nullptr;
        });
    diagnostics out;
    const prepared_stage prepared = test::prepare(kind, from.values, from.types, out);
    ASSERT_FALSE(out.has_errors());
    prepared.make_device.at("cuda")(*host, {from.name, from.values, from.types, prepared.outputs});
  }
  EXPECT_GT(fast_, 20U);
}

INSTANTIATE_TEST_SUITE_P(of, cudnn_networks, testing::Values("h200", "a100", "l4", "rtx4090"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace graphline::nn
