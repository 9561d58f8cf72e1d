#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {

/// A spec with the diagnostics of its reader.
struct reading {
  pipeline_spec spec;
  diagnostics said;
};

inline reading read_pipeline_text(std::string text, const reading_options& options = {},
                                  std::string name = "test.yaml") {
  reading r;
  const auto source = std::make_shared<const source_text>(std::move(name), std::move(text));
  r.spec = read_pipeline(source, options, r.said);
  return r;
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An experiment with the diagnostics of its reader.
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
