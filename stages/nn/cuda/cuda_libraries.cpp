#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "framework/base/machine.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "stages/nn/cuda/cublaslt_product.hpp"
#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/cudnn_graph.hpp"
#include "stages/nn/cuda/plan_choices.hpp"

namespace graphline::nn {
namespace {

int attribute_of(int number, cudaDeviceAttr which, const std::string& owner) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, number), "cudaDeviceGetAttribute", owner);
  return value;
}

/// Returns the theoretical bandwidth of a device's memory, which moves two bits per line and cycle.
double bandwidth_of(int number, const std::string& owner) {
  const double kilohertz = attribute_of(number, cudaDevAttrMemoryClockRate, owner);
  const double bits = attribute_of(number, cudaDevAttrGlobalMemoryBusWidth, owner);
  return 2 * kilohertz * 1e3 * bits / 8;
}

/// Returns the properties of a device that determine the fastest plan.
std::string text_of_device(int number, const std::string& name, const std::string& owner) {
  const auto attribute = [&](cudaDeviceAttr which) { return attribute_of(number, which, owner); };
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion", owner);
  return fmt::format("{}, compute capability {}.{}, {} multiprocessors, driver for CUDA {}", name,
                     attribute(cudaDevAttrComputeCapabilityMajor),
                     attribute(cudaDevAttrComputeCapabilityMinor),
                     attribute(cudaDevAttrMultiProcessorCount), cuda_version_text(driver));
}

class cuda_libraries final : public cuda_library {
 public:
  cuda_libraries(device& on, bool tune, std::string owner) : owner_(std::move(owner)), device_(on) {
    const int number = use_cuda_device(device_);
    device_text_ = text_of_device(number, on.properties().name, owner_);
    memory_bandwidth_ = bandwidth_of(number, owner_);
    if (tune) cache_.emplace(cache_folder());
  }

  std::unique_ptr<library_operation> plan(const convolution_form& form,
                                          std::string& why_not) override {
    return choose_in_cudnn(form, why_not);
  }

  std::unique_ptr<library_operation> plan(const attention_form& form,
                                          std::string& why_not) override {
    return choose_in_cudnn(form, why_not);
  }

  bool prefers_tensor_cores(const convolution_form& form) override {
    if (form.precision == precision::float32) return false;
    std::string why_not;
    const auto plans = make_cudnn_plans(form, cudnn(), why_not);
    return plans != nullptr && plans->uses_tensor_cores(0);
  }

  double memory_bandwidth() const override { return memory_bandwidth_; }

  std::unique_ptr<library_operation> plan(const product_form& form, std::string& why_not) override {
    use_cuda_device(device_);  // libraries plan for the current device
    if (!cublaslt_) cublaslt_ = std::make_shared<cublaslt_handle>(owner_);
    return choose(
        form, [&] { return make_product_plans(form, cublaslt_, why_not); },
        [] { return "cuBLASLt " + cublaslt_version(); }, why_not);
  }

 private:
  /// A built plan, shared by equal operations.
  struct built_plan {
    std::shared_ptr<plan_choices> plans;
    chosen_plan chosen;
  };

  /// Makes the device current, because libraries plan for the current one, and returns cuDNN for
  /// it.
  const std::shared_ptr<cudnn_handle>& cudnn() {
    use_cuda_device(device_);
    if (!cudnn_) cudnn_ = std::make_shared<cudnn_handle>(owner_);
    return cudnn_;
  }

  template <class Form>
  std::unique_ptr<library_operation> choose_in_cudnn(const Form& form, std::string& why_not) {
    return choose(
        form, [&] { return make_cudnn_plans(form, cudnn(), why_not); },
        [] { return "cuDNN " + cudnn_version(); }, why_not);
  }

  template <class Form, class Plans, class Version>
  std::unique_ptr<library_operation> choose(const Form& form, const Plans& make_plans,
                                            const Version& version, std::string& why_not) {
    const std::string key = to_text(form);
    auto known = built_.find(key);
    if (known == built_.end()) {
      std::shared_ptr<plan_choices> plans = make_plans();
      if (plans == nullptr) return nullptr;
      const std::vector<std::size_t> bytes = operand_bytes(form);
      const auto chosen =
          choose_plan(*plans,
                      {.cache = cache_ ? &*cache_ : nullptr,
                       .key = fmt::format("{}; {}; {}", device_text_, version(), key),
                       .operand_bytes = bytes,
                       .element = element_of(form.precision),
                       .owner = owner_},
                      why_not);
      if (!chosen) return nullptr;
      known = built_.emplace(key, built_plan{std::move(plans), *chosen}).first;
    }
    return make_library_operation(known->second.plans, known->second.chosen);
  }

  std::string owner_;
  device& device_;
  std::optional<tuning_cache> cache_;  ///< set if plans are tuned
  std::string device_text_;
  double memory_bandwidth_ = 0;
  std::shared_ptr<cudnn_handle> cudnn_;
  std::shared_ptr<cublaslt_handle> cublaslt_;
  std::map<std::string, built_plan> built_;  ///< key: text of the form
};

}  // namespace

std::unique_ptr<cuda_library> open_cuda_libraries(device& on, bool tune, std::string owner) {
  return std::make_unique<cuda_libraries>(on, tune, std::move(owner));
}

std::vector<std::pair<std::string, std::string>> cuda_library_versions() {
  const auto version = [](std::string (*ask)()) -> std::string {
    try {
      return ask();
    } catch (const run_error&) {
      return "not found";
    }
  };
  return {{"cuDNN", version(&cudnn_version)},
          {"cuDNN's frontend", cudnn_frontend_version()},
          {"cuBLASLt", version(&cublaslt_version)}};
}

}  // namespace graphline::nn
