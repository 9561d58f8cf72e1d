// Plug-ins that bring nothing: they add no kinds, or throw before they have.

#include "framework/stage/plugin.hpp"

#include "framework/base/error.hpp"

GRAPHLINE_PLUGIN(registry) {
#if defined(THROWS_ERROR)
  if (registry.all().empty()) throw graphline::run_error("the table of weights is not there");
#elif defined(THROWS_NUMBER)
  if (registry.all().empty()) throw 7;
#else
  static_cast<void>(registry);
#endif
}
