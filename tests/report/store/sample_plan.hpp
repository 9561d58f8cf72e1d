#pragma once

#include <string>
#include <utility>

#include "framework/plan/experiment_plan.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

/// Two configurations of one pipeline, three trials of each.
inline experiment_plan sample_plan() {
  experiment_plan planned;
  planned.name = "sync_vs_event";
  planned.how.trials = 3;
  planned.files = {{"sync_vs_event.yaml", "0000000000000001"},
                   {"two_models.yaml", "0000000000000002"},
                   {"device", "host"}};
  for (const auto method : {timing_method::sync, timing_method::event}) {
    plan member;
    member.pipeline = "two_models";
    member.parameters = {{"batch", "1"}};
    member.run.timing = method;
    const auto word = std::string(to_word(method));
    planned.configurations.push_back(
        {{"timing=" + word, {{"timing", word}}, {"two_models"}}, {std::move(member)}});
  }
  planned.pairs = {{{1, 0}, {0, 0}}};
  return planned;
}

/// The trial that comes after `number` others.
inline trial_record trial(std::size_t number) {
  return {number % 2, number / 2, 10, {two_models(timing_method::event, 2)}};
}

}  // namespace graphline::samples
