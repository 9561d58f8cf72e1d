// Plug-ins without kinds: they add none, throw first, cannot be loaded, or take a policy's name.

#include "framework/stage/plugin.hpp"

#include "framework/base/error.hpp"

extern "C" int defined_nowhere();

GRAPHLINE_PLUGIN(registry) {
#if defined(THROWS_ERROR)
  if (registry.all().empty()) throw graphline::run_error("the table of weights is not there");
#elif defined(THROWS_NUMBER)
  if (registry.all().empty()) throw 7;
#elif defined(LACKS_A_SYMBOL)
  if (registry.all().empty()) defined_nowhere();
#elif defined(TAKES_A_POLICY)
  registry.add(graphline::policy_kind{
      .name = "fifo",
      .make = [](const graphline::arguments&, std::span<const graphline::policy_stage>,
                 std::uint64_t) { return nullptr; }});
#else
  static_cast<void>(registry);
#endif
}
