#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {

/// A prepared session of a pipeline file, with settings adjusted by `change`, if given.
/// @pre `stages` and `on` outlive it
inline session session_of_file(const std::string& path, device& on, const stage_registry& stages,
                               const std::function<void(settings&)>& change = {}) {
  const std::string backend = on.properties().backend;
  diagnostics found;
  pipeline_spec spec = read_pipeline(read_source(path), {.backend = backend}, found);
  if (change) change(spec.run);
  plan p = make_plan(spec, stages, {.backend = backend}, found);
  found.throw_if_errors();
  return session(std::move(p), on);
}

/// The record of a run. @throws run_error if the run failed
inline run_record record_of(session& s, const run_options& options) {
  run_record record = s.run(options);
  if (record.failure) throw run_error(*record.failure);
  return record;
}

/// A program's `main`: parses the command line; returns the status of `body` or of an error.
inline int run_program(CLI::App& program, int argc, char** argv, const std::function<int()>& body) {
  try {
    program.parse(argc, argv);
    return body();
  } catch (const CLI::ParseError& e) {
    return program.exit(e) == 0 ? 0 : 2;
  } catch (const error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return static_cast<int>(e.status());
  }
}

}  // namespace graphline
