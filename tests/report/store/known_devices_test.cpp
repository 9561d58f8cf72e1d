#include "framework/report/store/known_devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/report/describe/describe.hpp"

namespace graphline {
namespace {

TEST(known_devices, have_every_rate_and_bandwidth_with_its_origin) {
  for (const auto& name : known_device_names()) {
    const auto known = known_device(name);
    ASSERT_TRUE(known) << name;
    EXPECT_NE(origin_of_figures(*known), "") << name;
    EXPECT_TRUE(known->device.memory_bytes) << name;
    for (const auto& ceiling : known->ceilings) EXPECT_NE(ceiling.how, "") << name;
    const auto figures = figures_of(*known);
    const device_ceilings ceilings(figures);
    EXPECT_EQ(ceilings.compute.size(), std::size(precision_words)) << name;
    EXPECT_TRUE(ceilings.to_device && ceilings.to_host) << name;
    EXPECT_EQ(known_device(known->device.name)->device.name, known->device.name);
  }
}

// Vendors round, and state the rates of Hopper's tensor cores at 1830 MHz.
TEST(known_devices, agree_with_the_peaks_of_their_architecture) {
  std::size_t compared = 0;
  for (const auto& name : known_device_names()) {
    const auto known = known_device(name);
    const bool hopper = name == "h100" || name == "h200";
    for (const auto& figure : figures_of(*known)) {
      const bool rate = figure.what == ceiling::matmul;
      if (!rate && figure.what != ceiling::read) continue;
      const bool cores = figure.arithmetic == precision::float32;
      const auto wanted =
          !rate ? std::string("memory")
                : std::string(to_word(figure.arithmetic)) + (cores ? " cores" : " tensor cores");
      const auto clock = hopper && !cores ? std::optional(1830.0) : std::nullopt;
      const auto peaks = theoretical_peaks(known->device, clock);
      const auto peak = std::ranges::find(peaks, wanted, &theoretical_peak::name);
      ASSERT_NE(peak, peaks.end()) << wanted;
      if (!peak->value) continue;
      EXPECT_NEAR(figure.value / *peak->value, 1, 0.011) << name << ", " << wanted;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6 * 5 + 1);  // no peaks are known of Orin's units
}

TEST(known_devices, are_not_reported_as_measured) {
  const auto h200 = *known_device("h200");
  EXPECT_EQ(report::describe(h200, {}).lines.at(1), "public figures: " + origin_of_figures(h200));
}

TEST(known_devices, are_no_others) {
  EXPECT_FALSE(known_device("NVIDIA H200 NVL"));
  EXPECT_FALSE(known_device(""));
}

}  // namespace
}  // namespace graphline
