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
#include "framework/record/search_record.hpp"
#include "framework/spec/experiment_spec.hpp"

namespace graphline {

/// One pipeline, or several that run concurrently, with their settings.
struct experiment_configuration {
  std::string name;  ///< given, or formed from the varied values: "timing=sync in_flight=2"
  /// Varied keys and values; empty for concurrent pipelines.
  std::vector<std::pair<std::string, std::string>> assignments;
  std::vector<std::string> members;  ///< names of the concurrent pipelines; at least one
};

template <class Archive>
void fields(Archive& a, part_of_record<experiment_configuration> auto& of) {
  a.value("name", of.name);
  a.value("assignments", of.assignments);
  a.value("members", of.members);
}

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

/// A comparison of `what` with its `reference`.
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

/// A cause-effect chain across concurrent pipelines, with bounds on its times.
struct chain_record {
  std::string name;
  std::vector<std::pair<std::string, std::string>> stages;  ///< member and stage
  std::optional<nanoseconds> age = {};
  std::optional<nanoseconds> reaction = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<chain_record> auto& of) {
  a.value("name", of.name);
  a.value("stages", of.stages);
  a.value("age_ns", of.age, any_time);
  a.value("reaction_ns", of.reaction, any_time);
}

/// The process of a job under MPI that ran a trial.
struct trial_place {
  std::int64_t rank = 0;
  std::string host;        ///< name of its machine
  std::int64_t cores = 0;  ///< that it can use; 0: unknown
  friend auto operator<=>(const trial_place&, const trial_place&) = default;
};

template <class Archive>
void fields(Archive& a, part_of_record<trial_place> auto& of) {
  a.value("rank", of.rank, from_0);
  a.value("host", of.host);
  a.value("cores", of.cores, from_0);
}

struct trial_record {
  std::size_t configuration = 0;
  /// A block consists of one trial of each configuration in random order, so that slow changes of
  /// the machine affect all configurations alike.
  std::size_t block = 0;
  nanoseconds begun = 0;                  ///< since the experiment began, without pauses
  std::vector<run_record> members;        ///< one per member of the configuration
  std::optional<trial_place> place = {};  ///< under MPI; the same for all trials of a block
};

template <class Archive>
void fields(Archive& a, part_of_record<trial_record> auto& of) {
  a.value("configuration", of.configuration);
  a.value("block", of.block);
  a.value("place", of.place);
  a.value("begun_ns", of.begun, any_time);
  a.value("members", of.members);
}

/// Raw results of an experiment.
struct experiment_record {
  std::string name;
  std::string description;
  experiment_settings how;
  std::vector<std::pair<std::string, std::string>> files;  ///< paths and checksums of its inputs
  std::vector<source_record> sources;                      ///< texts of these files
  std::vector<experiment_configuration> configurations;
  std::vector<compared_pair> pairs;
  std::vector<chain_record> chains;
  std::optional<graphline::calibration> calibration;  ///< of the device, if it was calibrated
  std::optional<prediction_record> prediction = {};   ///< if the trials are runs in virtual time
  std::optional<search_record> search = {};  ///< if the experiment is the confirmation of a search
  std::vector<trial_record> trials;  ///< in order of execution; the last block may be incomplete
  std::string stopped;               ///< why it ended before all requested trials; else empty
  bool interrupted = false;
  std::optional<std::string> failure;  ///< error that ended the experiment
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
  a.value("chains", of.chains);
  a.value("calibration", of.calibration);
  a.value("prediction", of.prediction);
  a.value("search", of.search);
  a.value("stopped", of.stopped);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
  a.value("trials", of.trials);
}

}  // namespace graphline
