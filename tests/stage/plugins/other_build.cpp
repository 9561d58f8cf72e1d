// Plug-ins that describe another build.

#include "framework/stage/plugin.hpp"

constinit const graphline::plugin_description graphline_plugin = [] {
  graphline::plugin_description other = graphline::describe_plugin("0.3.1");
#if defined(OTHER_ABI)
  other.abi = graphline::plugin_abi + 1;
#elif defined(OTHER_COMPILER)
  other.compiler[0] = 'D';
#elif defined(OTHER_MAGIC)
  other.magic[0] = 'G';
#endif
  return other;
}();

void graphline_register_kinds(graphline::stage_registry& /*registry*/) {
  __builtin_trap();  // a program must not call what it has to refuse
}
