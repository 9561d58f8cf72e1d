// A correct plug-in: a CPU stage that fails in several ways, and a device stage for `host`.

#include "framework/stage/plugin.hpp"

#include <memory>
#include <stdexcept>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"

namespace {

using namespace graphline;

/// Derived in the plug-in only, unknown to the program.
class private_error : public run_error {
 public:
  using run_error::run_error;
};

class failing_stage final : public cpu_stage {
 public:
  explicit failing_stage(std::string how) : how_(std::move(how)) {}

  void run(const cpu_call&) override {
    if (how_ == "input") throw input_error("an input error of the plug-in's");
    if (how_ == "private") throw private_error("a private error of the plug-in's");
    throw std::out_of_range("an error of the standard library");
  }

 private:
  std::string how_;
};

stage_kind failing_kind() {
  stage_kind kind;
  kind.name = "test.fail";
  kind.headline = "Fails";
  kind.on = side::cpu;
  kind.parameters = {{.name = "how",
                      .type = parameter_type::choice,
                      .help = "What it throws; planned: it is refused before",
                      .default_value = "input",
                      .choices = {"input", "private", "standard", "planned"}}};
  kind.prepare = [](const arguments& given, std::span<const tensor_type>, diagnostics& out) {
    if (given.text("how") == "planned") out.error(given.where("how"), "said by the plug-in");
    return prepared_stage{.make_cpu = [](const stage_config& config) {
      return std::make_unique<failing_stage>(config.arguments.text("how"));
    }};
  };
  return kind;
}

/// Adds its factory's term to each element, on the device's thread.
class add_work final : public device_work, host_operation {
 public:
  add_work(const stage_tensors& tensors, float term) : tensors_(tensors), term_(term) {}

  void enqueue(stream& s) override { host_enqueue(s, *this); }
  std::string_view name() const noexcept override { return "add"; }
  void run() override {
    const tensor_view& in = tensors_.inputs.at(0);
    for (std::int64_t i = 0; i < in.type.shape.elements(); ++i) {
      tensors_.outputs.at(0).as<float>()[i] = in.as<float>()[i] + term_;
    }
  }

 private:
  stage_tensors tensors_;
  float term_;
};

class add_stage final : public device_stage {
 public:
  explicit add_stage(device& d) {
    host_call(d, [this] { term_ = 2; });
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<add_work>(tensors, term_);
  }

 private:
  float term_ = 0;
};

stage_kind add_kind() {
  stage_kind kind;
  kind.name = "test.add";
  kind.headline = "Adds two to each element";
  kind.on = side::device;
  kind.inputs = {{"values", "float32"}};
  kind.outputs = {{"sums", "float32, the same shape"}};
  kind.backends = {"host"};
  kind.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result{.outputs = {inputs[0]}};
    result.make_device["host"] = [](device& d, const stage_config&) {
      return std::make_unique<add_stage>(d);
    };
    return result;
  };
  return kind;
}

}  // namespace

GRAPHLINE_PLUGIN(registry) {
  registry.add(failing_kind());
  registry.add(add_kind());
}
