#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline {

/// One way to run that an experiment looks at: a pipeline, or several at once, with all settings.
struct experiment_configuration {
  std::string name;  ///< as given, or made of what varies: "timing=sync in_flight=2"
  /// What sets it apart, as key and value; empty where several pipelines run at once.
  std::vector<std::pair<std::string, std::string>> assignments;
  std::vector<std::string> members;  ///< names of the pipelines that run at once; at least one
};

template <class Archive>
void fields(Archive& a, part_of_record<experiment_configuration> auto& of) {
  a.value("name", of.name);
  a.value("assignments", of.assignments);
  a.value("members", of.members);
}

/// One pipeline of a configuration.
struct configuration_member {
  std::size_t configuration = 0;
  std::size_t member = 0;
  friend auto operator<=>(const configuration_member&, const configuration_member&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<configuration_member> auto& of) {
  a.value("configuration", of.configuration);
  a.value("member", of.member);
}

/// What is to be compared with what.
struct compared_pair {
  configuration_member what;
  configuration_member reference;
  friend bool operator==(const compared_pair&, const compared_pair&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<compared_pair> auto& of) {
  a.value("what", of.what);
  a.value("reference", of.reference);
}

/// One run of one configuration.
struct trial_record {
  std::size_t configuration = 0;
  /// One trial of each configuration makes a block, in random order, so that slow changes of the
  /// machine fall on all configurations alike.
  std::size_t block = 0;
  nanoseconds begun = 0;            ///< since the experiment began; the time of a pause is left out
  std::vector<run_record> members;  ///< as in the configuration
};

template <class Archive>
void fields(Archive& a, part_of_record<trial_record> auto& of) {
  a.value("configuration", of.configuration);
  a.value("block", of.block);
  a.value("begun_ns", of.begun, any_time);
  a.value("members", of.members);
}

/// Everything an experiment produced, in raw form.
struct experiment_record {
  std::string name;
  std::string description;
  experiment_settings how;
  std::vector<std::pair<std::string, std::string>> files;  ///< path and checksum of what it read
  std::vector<source_record> sources;  ///< the texts of these files, in their order
  std::vector<experiment_configuration> configurations;
  std::vector<compared_pair> pairs;
  std::optional<graphline::calibration> calibration;  ///< of the device, where there was one
  std::vector<trial_record> trials;  ///< in the order they ran; the last block may be incomplete
  /// Why no further trials ran, in words; empty when all that were asked for did.
  std::string stopped;
  bool interrupted = false;
  /// What went wrong, where that is why no further trials ran: in a trial, or before it could run.
  std::optional<std::string> failure;
};

template <class Archive>
void fields(Archive& a, part_of_record<experiment_record> auto& of) {
  a.value("name", of.name);
  a.value("description", of.description);
  a.value("settings", of.how);
  a.value("files", of.files);
  a.value("sources", of.sources);
  a.value("configurations", of.configurations);
  a.value("pairs", of.pairs);
  a.value("calibration", of.calibration);
  a.value("stopped", of.stopped);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
  a.value("trials", of.trials);
}

}  // namespace graphline
