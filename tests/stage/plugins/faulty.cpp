// A plug-in whose faults end or hang a program.

#include "framework/stage/plugin.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "framework/device/host/host_device.hpp"

namespace {

using namespace graphline;

constexpr std::int64_t faulty_frame = 3;
constexpr std::int64_t faulty_run = 40;  // of a device stage; the first ones get it ready

/// Deeper than any stack.
[[gnu::noinline]] std::int64_t exhaust_stack(std::int64_t depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth == 1'000'000'000 ? 0 : exhaust_stack(depth + 1) + room[0];
}

void go_wrong(const std::string& how) {
  if (how == "standard") throw std::out_of_range("an error of the standard library");
  if (how == "number") throw 42;
  if (how == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "fpe") std::raise(SIGFPE);
  if (how == "abort") std::abort();
  if (how == "stack") exhaust_stack(0);
  if (how == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
}

class faulty_stage final : public cpu_stage {
 public:
  explicit faulty_stage(std::string how) : how_(std::move(how)) {}

  void run(const cpu_call& call) override {
    auto* out = call.outputs[0].as<float>();
    const auto elements = call.outputs[0].type.shape.elements();
    for (std::int64_t i = 0; i < elements; ++i) out[i] = 1;
    if (call.frame != faulty_frame) return;
    if (how_ == "after") out[elements] = 1;
    if (how_ == "before") out[-2] = out[-1] = 1;
    go_wrong(how_);
  }

 private:
  std::string how_;
};

class faulty_work final : public device_work, host_operation {
 public:
  explicit faulty_work(std::string how) : how_(std::move(how)) {}

  void enqueue(stream& s) override { host_enqueue(s, *this); }
  std::string_view name() const noexcept override { return "faulty"; }
  void run() override {
    if (++runs_ == faulty_run) go_wrong(how_);
  }

 private:
  std::string how_;
  std::int64_t runs_ = 0;
};

class faulty_device_stage final : public device_stage {
 public:
  explicit faulty_device_stage(std::string how) : how_(std::move(how)) {}
  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<faulty_work>(how_);
  }

 private:
  std::string how_;
};

stage_kind faulty_kind(const char* name, side on) {
  stage_kind kind;
  kind.name = name;
  kind.headline = "Goes wrong";
  kind.on = on;
  kind.outputs = {{"ones", "float32 [6]"}};
  kind.parameters = {
      {.name = "how", .type = parameter_type::text, .help = "What goes wrong", .required = true},
      {.name = "moment", .type = parameter_type::text, .help = "In what", .default_value = "run"}};
  if (on == side::device) kind.backends = {"host"};
  kind.prepare = [](const arguments& given, std::span<const tensor_type>, diagnostics&) {
    if (given.text("moment") == "prepare") go_wrong(given.text("how"));
    prepared_stage result{.outputs = {{shape{6}, dtype::float32}}};
    result.make_cpu = [](const stage_config& config) {
      if (config.arguments.text("moment") == "make") go_wrong(config.arguments.text("how"));
      return std::make_unique<faulty_stage>(config.arguments.text("how"));
    };
    result.make_device["host"] = [](device&, const stage_config& config) {
      return std::make_unique<faulty_device_stage>(config.arguments.text("how"));
    };
    return result;
  };
  return kind;
}

/// Does `how` in its function `moment`.
class faulty_policy final : public scheduling_policy {
 public:
  explicit faulty_policy(const arguments& given)
      : how_(given.text("how")), ranks_(given.text("moment") == "rank") {}

  policy_rank rank(const ready_job& job) const override {
    if (ranks_ && job.frame == faulty_frame) go_wrong(how_);
    return {};
  }

  nanoseconds hold_until(const ready_job& job, nanoseconds now) const override {
    if (ranks_ || job.frame != faulty_frame) return now;
    go_wrong(how_);
    return now + (how_ == "hour" ? 3'600'000'000'000 : 600'000'000);
  }

 private:
  std::string how_;
  bool ranks_;
};

policy_kind faulty_policy_kind() {
  policy_kind kind{.name = "test.policy", .description = "Goes wrong."};
  kind.parameters = {
      {.name = "how", .type = parameter_type::text, .help = "What goes wrong", .required = true},
      {.name = "moment", .type = parameter_type::text, .help = "In what", .default_value = "rank"}};
  kind.holds = true;
  kind.make = [](const arguments& given, std::span<const policy_stage>,
                 std::uint64_t) -> std::unique_ptr<const scheduling_policy> {
    if (given.text("moment") != "make") return std::make_unique<faulty_policy>(given);
    go_wrong(given.text("how"));
    return nullptr;
  };
  return kind;
}

}  // namespace

GRAPHLINE_PLUGIN(registry) {
  registry.add(faulty_policy_kind());
  registry.add(faulty_kind("test.faulty", side::cpu));
  registry.add(faulty_kind("test.faulty_device", side::device));
}
