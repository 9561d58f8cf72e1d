#pragma once

// For authors of plug-ins: shared libraries with stage kinds, which a pipeline names under
// `plugins:`. Link them with graphline::plugin.

#include "framework/stage/plugin_description.hpp"
#include "framework/stage/stage_registry.hpp"

#ifndef GRAPHLINE_PLUGIN_VERSION
#error "link the plug-in with graphline::plugin, which defines GRAPHLINE_PLUGIN_VERSION"
#endif

// The two symbols that a program looks up in a plug-in.
extern "C" {
__attribute__((visibility("default"))) extern const graphline::plugin_description graphline_plugin;
__attribute__((visibility("default"))) void graphline_register_kinds(
    graphline::stage_registry& registry);
}

/// Defines a plug-in's description and begins the function that adds its kinds. The body follows
/// the macro. Use the macro once in a plug-in, outside all namespaces:
///
///     GRAPHLINE_PLUGIN(registry) {
///       registry.add(normalize_kind());
///     }
///
/// If the body throws, the plug-in is refused with the message of the exception.
#define GRAPHLINE_PLUGIN(registry)                                 \
  constinit const graphline::plugin_description graphline_plugin = \
      graphline::describe_plugin(GRAPHLINE_PLUGIN_VERSION);        \
  void graphline_register_kinds(graphline::stage_registry& registry)
