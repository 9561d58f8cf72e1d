#pragma once

// Experiments on files in a folder of their own, for the planner's tests.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {

/// A pipeline of two device stages and CPU work, with parameters.
inline const char* const small_pipeline =
    "pipeline: small\n"                            // 1
    "params:\n"                                    // 2
    "  batch: {cuda: 32, host: 1}\n"               // 3
    "  side: 4\n"                                  // 4
    "  sizes: [2, 3]\n"                            // 5
    "inputs:\n"                                    // 6
    "  image: {shape: [$batch, $side]}\n"          // 7
    "stages:\n"                                    // 8
    "  - {name: a, kind: gpu, reads: image}\n"     // 9
    "  - {name: b, kind: gpu, shape: $sizes}\n"    // 10
    "  - {name: c, kind: work, reads: [a, b]}\n";  // 11

/// An experiment, planned; its registry lives as long as the plan.
struct planned_experiment {
  std::unique_ptr<stage_registry> registry = std::make_unique<stage_registry>(test_registry());
  experiment_plan plan;
  diagnostics out;
};

/// Reads and plans an experiment, the text of a file.
inline planned_experiment plan_text(const std::string& file, const std::string& text,
                                    const plan_target& target = {}) {
  planned_experiment result;
  const auto source = std::make_shared<const source_text>(file, text);
  const experiment_spec spec = read_experiment(source, result.out);
  result.plan = plan_experiment(spec, *result.registry, target, result.out);
  return result;
}

inline std::vector<std::string> names_of(const experiment_plan& plan) {
  std::vector<std::string> names;
  for (const planned_configuration& c : plan.configurations) names.push_back(c.what.name);
  return names;
}

/// "what.member<reference.member" of each pair.
inline std::vector<std::string> pairs_of(const experiment_plan& plan) {
  std::vector<std::string> list;
  for (const auto& [what, reference] : plan.pairs) {
    list.push_back(fmt::format("{}.{}<{}.{}", what.configuration, what.member,
                               reference.configuration, reference.member));
  }
  return list;
}

}  // namespace graphline::plan_testing
