// A plug-in whose stage takes longer in a process with the environment variable
// GRAPHLINE_TEST_PACE.

#include "framework/stage/plugin.hpp"

#include <cstdlib>
#include <memory>

#include "framework/base/clock.hpp"

namespace {

using namespace graphline;

class paced_stage final : public cpu_stage {
 public:
  explicit paced_stage(nanoseconds duration) {
    const char* const pace = std::getenv("GRAPHLINE_TEST_PACE");
    duration_ =
        pace == nullptr ? duration : static_cast<nanoseconds>(std::atof(pace) * double(duration));
  }

  void run(const cpu_call&) override {
    const nanoseconds end = now() + duration_;
    while (now() < end) pause_briefly();
  }

 private:
  nanoseconds duration_;
};

stage_kind paced_kind() {
  stage_kind kind;
  kind.name = "test.paced";
  kind.headline = "Waits for a time";
  kind.on = side::cpu;
  kind.parameters = {{.name = "duration", .type = parameter_type::duration, .help = "The time"}};
  kind.prepare = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return prepared_stage{.make_cpu = [](const stage_config& config) {
      return std::make_unique<paced_stage>(config.arguments.duration("duration"));
    }};
  };
  return kind;
}

}  // namespace

GRAPHLINE_PLUGIN(registry) {
  registry.add(paced_kind());
}
