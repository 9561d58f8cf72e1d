// Plug-ins without kinds: they add none, throw first, or cannot be loaded.

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
#else
  static_cast<void>(registry);
#endif
}
