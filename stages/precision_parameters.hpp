#pragma once

#include <vector>

#include "framework/base/precision.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// Returns `precision` and `tune`, the parameters of all stages that call a vendor's library.
inline std::vector<parameter> precision_parameters() {
  parameter how{.name = "precision",
                .type = parameter_type::choice,
                .help =
                    "What the stage computes in on cuda; host computes in float32. Tensors are "
                    "float32 except between networks and products on cuda that compute in the same "
                    "type.",
                .default_value = "float32",
                .only_on = "cuda"};
  for (const auto& [text, value] : precision_words) how.choices.emplace_back(text);
  return {std::move(how),
          {.name = "tune",
           .type = parameter_type::boolean,
           .help = "Try the library's implementations out on cuda and keep the fastest, instead of "
                   "trusting its first proposal.",
           .default_value = "true"}};
}

/// Returns `denormals`, a parameter of networks.
inline parameter denormals_parameter() {
  return {.name = "denormals",
          .type = parameter_type::choice,
          .help =
              "What host does with numbers below 1.2e-38: flush takes them for 0, in operands and "
              "results; keep computes with them, which takes many processors many times as long.",
          .default_value = "flush",
          .choices = {"flush", "keep"},
          .only_on = "host"};
}

// Return the values of these parameters. A stage without one computes in float32, tunes, and keeps
// denormals.

inline precision precision_of(const arguments& values) {
  if (!values.has("precision")) return precision::float32;
  return from_word<precision>(values.text("precision")).value();
}

inline bool flushes_denormals(const arguments& values) {
  return values.has("denormals") && values.text("denormals") == "flush";
}

inline bool tune_of(const arguments& values) {
  return !values.has("tune") || values.boolean("tune");
}

}  // namespace graphline
