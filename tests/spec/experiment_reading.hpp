#pragma once

#include <memory>
#include <string>
#include <utility>

#include "framework/spec/experiment_reader.hpp"

namespace graphline {

/// An experiment with what was said while reading it.
struct experiment_reading {
  experiment_spec spec;
  diagnostics said;
};

inline experiment_reading read_experiment_text(std::string text, std::string name = "test.yaml") {
  experiment_reading r;
  r.spec = read_experiment(std::make_shared<const source_text>(std::move(name), std::move(text)),
                           r.said);
  return r;
}

}  // namespace graphline
