#include "framework/analysis/roofline/ceiling_label.hpp"

#include <gtest/gtest.h>

#include <set>

namespace graphline {
namespace {

TEST(ceiling_label, names_the_precision_of_rates_alone) {
  EXPECT_EQ(label_of(ceiling::convolution, precision::float16), "convolution, float16");
  EXPECT_EQ(label_of(ceiling::matmul, precision::float32), "matrix product, float32");
  EXPECT_EQ(label_of(ceiling::host_to_device_pageable, precision::float32),
            "host to device, pageable");
}

TEST(ceiling_label, is_another_for_each_and_never_the_word_of_a_file) {
  std::set<std::string> labels;
  for (const auto& [word, what] : ceiling_words) {
    const auto label = label_of(what, precision::float32);
    EXPECT_EQ(label.find_first_of("_?"), std::string::npos) << label;
    EXPECT_TRUE(labels.insert(label).second) << label;
  }
}

}  // namespace
}  // namespace graphline
