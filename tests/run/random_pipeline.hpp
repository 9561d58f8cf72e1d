#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/run/test_kinds.hpp"

namespace graphline::testing_kinds {

struct random_pipeline {
  pipeline_spec spec;
  std::vector<std::int64_t> expected;  ///< per stage, in the last frame
  std::vector<bool> read;              ///< per stage: some later stage reads it
};

/// A DAG of up to 14 stages on both sides with up to three inputs each, and what each computes in
/// frame `last_frame`.
inline random_pipeline make_random(std::mt19937& generator, std::int64_t last_frame) {
  random_pipeline result;
  result.spec.name = {"random"};
  const std::size_t count = 1 + generator() % 14;
  result.read.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool on_cpu = generator() % 2 == 0;
    const auto salt = static_cast<std::int64_t>(generator() % 1000);
    std::vector<std::string> reads;
    std::vector<std::int64_t> values;
    for (std::size_t k = generator() % 4; k > 0 && i > 0; --k) {
      const std::size_t from = generator() % i;
      const std::string name = "s" + std::to_string(from);
      if (std::find(reads.begin(), reads.end(), name) != reads.end()) continue;
      reads.push_back(name);
      values.push_back(result.expected[from]);
      result.read[from] = true;
    }
    const char* const kind = on_cpu                 ? "cpu_mix"
                             : generator() % 2 == 0 ? "device_parts"
                                                    : "device_mix";
    auto stage = make_stage("s" + std::to_string(i), kind, reads, salt);
    stage.priority = level_of(static_cast<priority>(generator() % 3));
    if (i > 0 && generator() % 4 == 0) stage.after = {{"s" + std::to_string(generator() % i)}};
    result.spec.stages.push_back(stage);
    result.expected.push_back(mixed(salt, values, on_cpu ? last_frame : 0));
  }
  return result;
}

inline std::string hex_checksum(std::int64_t value) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int element = 0; element < 64; ++element) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3ULL;
    hash ^= hash >> 32;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(hash));
  return text;
}

/// Compares the outputs of the last frame.
inline void expect_outputs(const run_record& record, const random_pipeline& pipeline,
                           const std::string& where) {
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < pipeline.expected.size(); ++i) {
    if (pipeline.read[i]) continue;
    const auto& output = record.outputs.at(outputs++);
    EXPECT_EQ(output.tensor, "s" + std::to_string(i));
    EXPECT_EQ(output.checksum, hex_checksum(pipeline.expected[i])) << where << ", stage s" << i;
  }
  EXPECT_EQ(outputs, record.outputs.size());
}

inline void expect_stages_within_frames(const run_record& record) {
  ASSERT_FALSE(record.failure) << *record.failure;
  for (std::size_t f = 0; f < record.frames.size(); ++f) {
    const auto& frame = record.frames[f];
    EXPECT_LE(frame.begin, frame.end);
    for (const auto& stage : record.stages) {
      const auto& column = stage.on == side::cpu ? stage.cpu : stage.device;
      ASSERT_EQ(column.size(), record.frames.size()) << stage.name;
      EXPECT_LE(frame.begin, column[f].begin) << stage.name;
      EXPECT_LE(column[f].begin, column[f].end) << stage.name;
      EXPECT_LE(column[f].end, frame.end) << stage.name;
    }
  }
}

inline void expect_frames_in_order_and_stages_within(const run_record& record) {
  expect_stages_within_frames(record);
  for (std::size_t f = 1; f < record.frames.size(); ++f) {
    EXPECT_LE(record.frames[f - 1].begin, record.frames[f].begin);
  }
}

}  // namespace graphline::testing_kinds
