#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// A setting that searches vary, with its values.
struct searched_setting {
  std::string_view key;
  std::string_view values;
};

/// In this order, simplicity decides between equals. `batch_frames` applies to pipelines with
/// arrivals and a stage `cpu.batch`.
inline constexpr searched_setting searched_settings[] = {
    {"strategy", "serial,async,overlap"}, {"policy", "oldest_frame,critical_path,deadline"},
    {"graphs", "off,stage,frame"},        {"in_flight", "1,2,3,4"},
    {"wait", "spin,yield,block"},         {"priorities", "on,off"},
    {"batch_frames", "1,2,4,8"}};

/// Name of the configuration with the file's settings.
inline constexpr const char* file_settings = "as in the file";

struct search_space {
  experiment_plan planned;       ///< a configuration for each candidate, all against the first
  std::size_t combinations = 0;  ///< of all values
  std::size_t refused = 0;       ///< combinations that `check` refuses
  std::size_t same = 0;          ///< combinations whose plan is that of a simpler one
};

/// Makes the candidates of a search. The first has the file's settings, as changed by `of.run` and
/// `of.params`. The others follow by the number of values that differ from it, then by `in_flight`,
/// then in the order of `searched_settings`; of those with the same plan, only the first.
/// @param of An experiment on one pipeline, without configurations.
/// @param over Texts of the option --over: "KEY=v1,v2" sets the values of a setting or parameter;
/// "KEY" limits the search to the keys that the texts name.
/// @throws input_error for an invalid text. Errors of the pipeline go to `out`.
search_space make_search_space(experiment_spec of, const std::vector<std::string>& over,
                               stage_registry& registry, const plan_target& target,
                               diagnostics& out);

/// Returns the text of an experiment that compares candidates of a search with the first of them.
/// @param pipeline Path of the pipeline, relative to the experiment's folder.
/// @param frames Measured frames of a trial.
std::string experiment_text(const experiment_spec& of, const std::string& pipeline,
                            const std::vector<experiment_configuration>& candidates,
                            const experiment_settings& how, std::int64_t frames);

/// Returns "key: value" of each assignment, for a `run:` section or a mapping of parameters.
std::string assignments_text(const std::vector<std::pair<std::string, std::string>>& assignments);

}  // namespace graphline
