#pragma once

#include <nlohmann/json.hpp>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The JSON Schema (draft 7) of pipeline files, with the parameters of the kinds in `registry`. A
/// file that names plug-ins may use any other kind too.
nlohmann::ordered_json pipeline_schema(const stage_registry& registry);

/// That of experiment files.
nlohmann::ordered_json experiment_schema();

}  // namespace graphline
