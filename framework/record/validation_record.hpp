#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A measured run, and a prediction of it.
struct validation_round {
  run_record measured;
  run_record predicted;
};

template <class Archive>
void fields(Archive& a, part_of_record<validation_round> auto& of) {
  a.value("measured", of.measured);
  a.value("predicted", of.predicted);
}

/// Raw results of a validation, which measures and predicts the same settings in rounds.
struct validation_record {
  std::int64_t requested = 0;            ///< rounds
  std::vector<validation_round> rounds;  ///< complete rounds, in order of execution
  bool interrupted = false;
  std::optional<std::string> failure;  ///< error that ended a run
};

template <class Archive>
void fields(Archive& a, part_of_record<validation_record> auto& of) {
  a.value("requested", of.requested, from_1);
  a.value("rounds", of.rounds);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
}

}  // namespace graphline
