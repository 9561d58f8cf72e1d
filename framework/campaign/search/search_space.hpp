#pragma once

#include <cstdint>
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

/// In this order, simplicity decides between equals. `streams` applies to pipelines with device
/// stages that do not wait for each other, `window` to those with several device stages, and
/// `batch_frames` to those with arrivals and a stage `cpu.batch`.
inline constexpr searched_setting searched_settings[] = {
    {"strategy", "serial, async, overlap"},
    {"policy", "oldest_frame, critical_path, deadline"},
    {"graphs", "off, stage, frame"},
    {"in_flight", "1, 2, 3, 4"},
    {"streams", "auto, one"},
    {"window", "0, 1"},
    {"wait", "spin, yield, block"},
    {"priorities", "on, off"},
    {"batch_frames", "1, 2, 4, 8"}};

/// Name of the configuration with the file's settings.
inline constexpr const char* file_settings = "as in the file";

/// Plans the candidates of a search, each against the first, which has the file's settings, as
/// changed by `of.run` and `of.params`. Leaves out combinations that `check` refuses. The others
/// follow by the number of values that differ from the file, then by `in_flight`, then in the order
/// of `searched_settings`; of those with the same plan, only the first.
/// Of more than five times `drawn` combinations, draws `drawn` at random.
/// @param of An experiment on one pipeline, without configurations.
/// @param over Texts of the option --over: "KEY=v1,v2" sets the values of a setting or parameter;
/// "KEY" limits the search to the keys that the texts name.
/// @throws input_error for an invalid text. Errors of the pipeline go to `out`.
experiment_plan make_search_space(experiment_spec of, const std::vector<std::string>& over,
                                  stage_registry& registry, const plan_target& target,
                                  std::size_t drawn, diagnostics& out);

/// Returns the text of an experiment that compares candidates of a search, in the order of
/// preference, with the file's settings among them.
/// @param pipeline Path of the pipeline, relative to the experiment's folder.
/// @param frames Measured frames of a trial.
std::string experiment_text(const experiment_spec& of, const std::string& pipeline,
                            const std::vector<experiment_configuration>& candidates,
                            const experiment_settings& how, std::int64_t frames);

}  // namespace graphline
