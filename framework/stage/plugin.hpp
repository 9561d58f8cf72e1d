#pragma once

// For authors of plug-ins: a shared library that brings stage kinds, named under `plugins:` in a
// pipeline's file. Link it with graphline::plugin.

#include "framework/stage/plugin_description.hpp"
#include "framework/stage/stage_registry.hpp"

#ifndef GRAPHLINE_PLUGIN_VERSION
#error "a plug-in is linked with graphline::plugin, which says the version it is built against"
#endif

// The two names that a program looks up in a plug-in.
extern "C" {
__attribute__((visibility("default"))) extern const graphline::plugin_description graphline_plugin;
__attribute__((visibility("default"))) void graphline_register_kinds(
    graphline::stage_registry& registry);
}

/// Defines what makes a shared library a plug-in: its description, and the function that adds its
/// kinds, whose body follows. Once in a plug-in, outside of any namespace:
///
///     GRAPHLINE_PLUGIN(registry) {
///       registry.add(normalize_kind());
///     }
///
/// An exception from the body refuses the plug-in with that message.
#define GRAPHLINE_PLUGIN(registry)                                 \
  constinit const graphline::plugin_description graphline_plugin = \
      graphline::describe_plugin(GRAPHLINE_PLUGIN_VERSION);        \
  void graphline_register_kinds(graphline::stage_registry& registry)
