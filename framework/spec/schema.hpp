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

/// JSON Schema (draft 7) of pipeline files. It accepts other kinds of stage too, since a plug-in
/// may add them.
std::string pipeline_schema(const std::vector<described_keys>& kinds,
                            const std::vector<described_keys>& layers);

/// JSON Schema (draft 7) of experiment files, except which keys exclude each other.
std::string experiment_schema();

}  // namespace graphline
