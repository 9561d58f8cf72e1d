#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/spec/parameter.hpp"

namespace graphline {

/// Whether "$NAME" may stand for a value: in a pipeline it may, in an experiment not.
enum class references { allowed, refused };

/// A reference to a definition of the schema, by its words: "list of stages".
nlohmann::ordered_json definition(std::string_view words);

/// The name that such a definition has in the schema: "list_of_stages".
std::string definition_name(std::string_view words);

/// The JSON Schema (draft 7) of a key's value, with the key's help, type in words and default.
nlohmann::ordered_json schema_of(const parameter& p, references how);

/// That of a mapping with these keys and no others.
nlohmann::ordered_json mapping_schema(const std::vector<parameter>& keys, references how);

/// Lets a value be left out too, as in "run:".
nlohmann::ordered_json or_nothing(nlohmann::ordered_json mapping);

/// The definitions that both kinds of file share: texts, names, durations, values of parameters.
nlohmann::ordered_json common_definitions(references how);

}  // namespace graphline
