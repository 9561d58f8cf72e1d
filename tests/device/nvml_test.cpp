#include "framework/device/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace graphline {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

constexpr int not_supported = 3;

/// A driver with one GPU, in place of NVIDIA's.
struct fake_gpu {
  unsigned long long reasons = 0;
  std::vector<unsigned> processes;
  int ecc_status = 0;
} the_gpu;

nvml_functions functions() {
  nvml_functions all;
  all.init = [] { return 0; };
  all.device_by_bus = [](const char* bus, void** device) {
    if (std::strcmp(bus, "00000000:3B:00.0") != 0) return 6;
    *device = &the_gpu;
    return 0;
  };
  all.clock = [](void*, unsigned type, unsigned* mhz) {
    *mhz = type == 1 ? 1980 : type == 2 ? 3201 : 0;
    return 0;
  };
  all.slowed_by = [](void* device, unsigned long long* reasons) {
    *reasons = static_cast<fake_gpu*>(device)->reasons;
    return 0;
  };
  all.power_limit = [](void*, unsigned* milliwatts) {
    *milliwatts = 700'000;
    return 0;
  };
  all.ecc = [](void* device, unsigned* current, unsigned* pending) {
    *current = 1;
    *pending = 0;
    return static_cast<fake_gpu*>(device)->ecc_status;
  };
  all.mig = [](void*, unsigned* current, unsigned* pending) {
    *current = 0;
    *pending = 1;
    return 0;
  };
  all.driver_version = [](char* text, unsigned room) {
    std::strncpy(text, "580.95.05", room);
    return 0;
  };
  all.processes = [](void* device, unsigned* count, nvml_functions::process* list) {
    const auto& ids = static_cast<fake_gpu*>(device)->processes;
    for (std::size_t i = 0; i < ids.size() && i < *count; ++i) list[i].id = ids[i];
    *count = static_cast<unsigned>(ids.size());
    return 0;
  };
  return all;
}

class nvml : public ::testing::Test {
 protected:
  nvml() { the_gpu = {}; }

  nvml_device gpu() { return find_nvml_device(with_, "00000000:3B:00.0").value(); }

  nvml_functions with_ = functions();
};

TEST_F(nvml, tells_driver_power_limit_ecc_and_mig) {
  EXPECT_THAT(gpu().details(),
              ElementsAre(Pair("driver", "580.95.05"), Pair("power limit", "700 W"),
                          Pair("ECC", "on"), Pair("MIG", "off")));
  the_gpu.ecc_status = not_supported;
  with_.mig = nullptr;
  EXPECT_THAT(gpu().details(),
              ElementsAre(Pair("driver", "580.95.05"), Pair("power limit", "700 W")));
}

TEST_F(nvml, tells_clocks_and_what_holds_them_down) {
  EXPECT_THAT(gpu().state(1).clock, Optional(DoubleEq(1980)));
  EXPECT_THAT(gpu().state(1).memory_clock, Optional(DoubleEq(3201)));
  EXPECT_THAT(gpu().state(1).slowed_by, IsEmpty());
  the_gpu.reasons = 0x1 | 0x2;  // idle, and clocks that somebody chose
  EXPECT_THAT(gpu().state(1).slowed_by, IsEmpty());
  the_gpu.reasons = 0x4 | 0x20;
  EXPECT_THAT(gpu().state(1).slowed_by, ElementsAre("the power limit", "temperature"));
}

TEST_F(nvml, counts_processes_other_than_this_one) {
  the_gpu.processes = {41, 42, 43};
  EXPECT_THAT(gpu().state(42).other_processes, Optional(2));
  EXPECT_EQ(gpu().state(7).other_processes, std::nullopt);  // its own is not listed
}

TEST_F(nvml, is_nothing_without_a_driver_or_for_a_gpu_that_it_does_not_know) {
  EXPECT_FALSE(find_nvml_device(with_, "00000000:FF:00.0"));
  with_.init = [] { return 9; };
  EXPECT_FALSE(find_nvml_device(with_, "00000000:3B:00.0"));
  const nvml_functions none;
  EXPECT_FALSE(find_nvml_device(none, "00000000:3B:00.0"));
}

}  // namespace
}  // namespace graphline
