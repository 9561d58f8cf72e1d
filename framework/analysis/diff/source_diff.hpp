#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// Something of the result before and of the one after.
template <class T>
struct before_after {
  T before;
  T after;
};

/// A fact that is not the same in both; nothing where a result does not state it.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// What differs in the files that two results were made from, key by key. Comments, formatting,
/// the order of keys and numbers written in another way are no difference, and neither are `run:`
/// and `params:` of a pipeline, which the settings of a result hold as they were resolved, nor keys
/// "x-...".
///
/// Stages go by name ("stages.work.duration"), layers by their place, counted from 0, where they
/// are in the first, or in the second if only that has them ("stages.net.layers[2].conv2d.kernel").
/// The first file of each is compared with the first of the other, further ones by name; their keys
/// follow their name and a colon. Throws an `input_error` where a text is no YAML.
std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after);

}  // namespace graphline
