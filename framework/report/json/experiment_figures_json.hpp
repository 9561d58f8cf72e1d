#pragma once

#include <nlohmann/json.hpp>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

// What a saved experiment says beside its trials. `summary` is of the record.

/// Each configuration with its pipelines: how they were run and what their trials say.
nlohmann::ordered_json configurations_json(const experiment_record& record,
                                           const experiment_summary& summary);

/// Each figure that was compared, by names of configurations and pipelines.
nlohmann::ordered_json comparisons_json(const experiment_record& record,
                                        const experiment_summary& summary);
nlohmann::ordered_json stage_comparisons_json(const experiment_record& record,
                                              const experiment_summary& summary);

nlohmann::ordered_json steadiness_json(const steadiness& machine);

}  // namespace graphline
