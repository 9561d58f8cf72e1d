#pragma once

#include <functional>
#include <string>
#include <utility>

#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_reader.hpp"

/// A pipeline file ready to run on a device, its own settings changed by `change` where that is
/// given. `stages` must outlive it, and so must `on`.
inline graphline::session session_of_file(
    const std::string& path, graphline::device& on, const graphline::stage_registry& stages,
    const std::function<void(graphline::settings&)>& change = {}) {
  using namespace graphline;
  const std::string backend = on.properties().backend;
  diagnostics found;
  pipeline_spec spec = read_pipeline(read_source(path), {.backend = backend}, found);
  if (change) change(spec.run);
  plan p = make_plan(spec, stages, {.backend = backend}, found);
  found.throw_if_errors();
  return session(std::move(p), on);
}
