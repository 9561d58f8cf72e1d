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

namespace graphline::testing {

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

/// A folder with files in it, gone with this.
class experiment_folder : public temporary_folder {
 public:
  std::string path() const { return temporary_folder::path().string(); }

  /// `text` with this folder's path, which is another in each run, taken out.
  std::string without_path(std::string text) const {
    const std::string prefix = path() + "/";
    for (std::size_t at = 0; (at = text.find(prefix)) != std::string::npos;) {
      text.erase(at, prefix.size());
    }
    return text;
  }
};

/// An experiment, planned; its registry lives as long as the plan.
struct planned_experiment {
  std::unique_ptr<stage_registry> registry = std::make_unique<stage_registry>(test_registry());
  experiment_plan plan;
  diagnostics out;
};

/// Reads and plans an experiment.
inline planned_experiment plan_text(const experiment_folder& folder, const std::string& text,
                                    const plan_target& target = {}) {
  planned_experiment result;
  const auto source = std::make_shared<const source_text>(folder.path() + "/exp.yaml", text);
  const experiment_spec spec = read_experiment(source, result.out);
  result.plan = plan_experiment(spec, *result.registry, target, result.out);
  return result;
}

/// What is said of an experiment, the folder's path left away.
inline std::string said_of(const experiment_folder& folder, const std::string& text,
                           const plan_target& target = {}) {
  return folder.without_path(plan_text(folder, text, target).out.render());
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

}  // namespace graphline::testing
