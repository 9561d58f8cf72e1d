#pragma once

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/reason.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// Runs `work` and puts the stage's name and what was being done in front of what it throws.
template <class Work>
auto naming_stage(const planned_stage& stage, const char* what, Work&& work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.status(), fmt::format("stage '{}' ({}): {}: {}", stage.name, stage.kind->name,
                                        what, e.what()));
  } catch (const std::exception& e) {
    throw run_error(
        fmt::format("stage '{}' ({}): {}: {}", stage.name, stage.kind->name, what, reason_of(e)));
  }
}

}  // namespace graphline
