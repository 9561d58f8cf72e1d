#include "framework/analysis/roofline/theoretical_peak.hpp"

#include <gtest/gtest.h>

#include <string>

namespace graphline {
namespace {

device_properties gpu(const std::string& name, const std::string& capability,
                      const std::string& multiprocessors, const std::string& core_mhz,
                      const std::string& memory_mhz, const std::string& bus_bits) {
  device_properties device;
  device.backend = "cuda";
  device.name = name;
  device.details = {{"compute capability", capability},
                    {"multiprocessors", multiprocessors},
                    {"core clock, at most", core_mhz + " MHz"},
                    {"memory clock, at most", memory_mhz + " MHz"},
                    {"memory bus", bus_bits + " bit"}};
  return device;
}

theoretical_peak peak(const device_properties& device, const std::string& name,
                      std::optional<double> clock_mhz = {}) {
  for (const auto& p : theoretical_peaks(device, clock_mhz)) {
    if (p.name == name) return p;
  }
  ADD_FAILURE() << "no peak '" << name << "'";
  return {};
}

/// In 10^12 per second; -1 if unknown.
double tera(const device_properties& device, const std::string& name) {
  return peak(device, name).value.value_or(-1e12) / 1e12;
}

TEST(theoretical_peak, agrees_with_white_papers) {
  const auto a100 = gpu("NVIDIA A100-SXM4-40GB", "8.0", "108", "1410", "1215", "5120");
  const auto geforce = gpu("NVIDIA GeForce RTX 4090", "8.9", "128", "2520", "10501", "384");
  auto professional = geforce;
  professional.name = "NVIDIA RTX 6000 Ada Generation";
  const auto turing = gpu("Tesla T4", "7.5", "40", "1590", "5001", "256");
  const auto v100 = gpu("Tesla V100-SXM2-16GB", "7.0", "80", "1530", "877", "4096");
  const auto h100 = gpu("NVIDIA H100 80GB HBM3", "9.0", "132", "1830", "2619", "5120");
  struct stated {
    const device_properties& of;
    const char* peak;
    double tera;
  };
  for (const auto& [of, peak, value] : {stated{a100, "float64 cores", 9.7},
                                        {a100, "float32 cores", 19.5},
                                        {a100, "float16 cores", 78},
                                        {a100, "tf32 tensor cores", 156},
                                        {a100, "float16 tensor cores", 312},
                                        {a100, "bfloat16 tensor cores", 312},
                                        {a100, "memory", 1.555},
                                        {geforce, "float32 cores", 82.6},
                                        {geforce, "memory", 1.008},
                                        {geforce, "float16 tensor cores", 165.2},  // half the rate
                                        {geforce, "float64 cores", 1.29},
                                        {professional, "float16 tensor cores", 330.3},
                                        {professional, "tf32 tensor cores", 165.2},
                                        {professional, "float32 cores", 82.6},
                                        {turing, "float16 tensor cores", 65.1},
                                        {v100, "float32 cores", 15.7},
                                        {v100, "float16 tensor cores", 125.3},
                                        {h100, "float16 tensor cores", 989},
                                        {h100, "tf32 tensor cores", 495},
                                        {h100, "float32 cores", 61.8},
                                        {h100, "memory", 3.352}}) {
    EXPECT_NEAR(tera(of, peak) / value, 1, 0.005) << of.name << ", " << peak;
  }
  const auto ampere = gpu("NVIDIA GeForce RTX 3080", "8.6", "68", "1710", "9501", "320");
  const auto ridge_point = tera(ampere, "float32 cores") / tera(ampere, "memory");
  EXPECT_NEAR(ridge_point, 39.2, 0.05);
}

TEST(theoretical_peak, states_its_formula) {
  const auto h200 = gpu("NVIDIA H200", "9.0", "132", "1980", "3201", "6144");
  EXPECT_EQ(peak(h200, "float32 cores").formula, "132 SMs x 128 x 2 x 1.98 GHz");
  EXPECT_EQ(peak(h200, "float16 tensor cores").formula, "132 SMs x 4096 x 1.98 GHz");
  EXPECT_EQ(peak(h200, "memory").formula, "3.201 GHz x 2 x 6144 bit / 8");
}

TEST(theoretical_peak, applies_another_clock_to_compute_only) {
  const auto h200 = gpu("NVIDIA H200", "9.0", "132", "1980", "3201", "6144");
  EXPECT_EQ(peak(h200, "float32 cores", 1000).formula, "132 SMs x 128 x 2 x 1 GHz");
  EXPECT_NEAR(*peak(h200, "float32 cores", 1000).value, 33.792e12, 1e6);
  EXPECT_EQ(peak(h200, "memory", 1000).formula, peak(h200, "memory").formula);
}

TEST(theoretical_peak, is_absent_with_the_reason) {
  const auto v100 = gpu("Tesla V100-SXM2-16GB", "7.0", "80", "1530", "877", "4096");
  const auto unknown = gpu("A GPU of 2031", "14.2", "999", "3000", "20000", "8192");
  EXPECT_NEAR(tera(unknown, "memory"), 40.96, 0.001);
  auto silent = gpu("NVIDIA H200", "9.0", "132", "0", "3201", "none");
  EXPECT_TRUE(peak(silent, "float32 cores", 1980).value);
  auto mute = silent;
  mute.details.clear();
  struct absent {
    const device_properties& of;
    const char* peak;
    const char* why;
  };
  for (const auto& [of, name, why] :
       {absent{v100, "tf32 tensor cores", "compute capability 7.0 has none, or it is not stated"},
        {unknown, "float32 cores", "the units of compute capability 14.2 are not in the table"},
        {silent, "memory", "the device does not state its memory bus"},
        {silent, "float32 cores", "the device does not state its core clock"},
        {mute, "memory", "the device does not state its memory clock"},
        {mute, "float32 cores", "the device does not state its compute capability"}}) {
    EXPECT_FALSE(peak(of, name).value) << why;
    EXPECT_EQ(peak(of, name).formula, why);
  }
}

TEST(theoretical_peak, is_absent_for_processors) {
  device_properties host;
  host.backend = "host";
  EXPECT_TRUE(theoretical_peaks(host).empty());
}

}  // namespace
}  // namespace graphline
