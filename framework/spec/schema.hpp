#pragma once

#include <string>
#include <vector>

#include "framework/spec/parameter.hpp"

namespace graphline {

/// The keys of a kind of stage or layer.
struct described_keys {
  std::string name;
  std::string headline;
  std::vector<parameter> keys;
};

/// Returns the JSON Schema (draft 7) of pipeline files. Kinds of plug-ins are valid.
std::string pipeline_schema(const std::vector<described_keys>& kinds,
                            const std::vector<described_keys>& layers);

/// Returns the JSON Schema (draft 7) of experiment files. Keys that exclude each other are valid.
std::string experiment_schema();

}  // namespace graphline
