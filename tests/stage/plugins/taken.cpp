// A plug-in with a new kind, and one whose name `good` uses.

#include "framework/stage/plugin.hpp"

#include <memory>

namespace {

graphline::stage_kind kind_named(const char* name) {
  graphline::stage_kind kind;
  kind.name = name;
  kind.prepare = [](const graphline::arguments&, std::span<const graphline::tensor_type>,
                    graphline::diagnostics&) { return graphline::prepared_stage{}; };
  return kind;
}

}  // namespace

GRAPHLINE_PLUGIN(registry) {
  registry.add(kind_named("test.a_new_one"));
  registry.add(kind_named("test.fail"));
}
