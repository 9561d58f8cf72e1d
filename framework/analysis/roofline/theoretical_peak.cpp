#include "framework/analysis/roofline/theoretical_peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace graphline {
namespace {

/// FLOPs per clock and multiprocessor, for dense arithmetic with float32 accumulation. A
/// multiply-add counts as two. 0 if the unit is absent or NVIDIA does not document its rate.
struct units {
  std::string_view capability;
  int float64_cores;
  int float32_cores;
  int float16_cores;
  int tf32_tensor;
  int float16_tensor;
  int bfloat16_tensor;
  int geforce_share = 1;  ///< factor by which GeForce tensor cores are slower
};

// Rates of cores: CUDA C++ Programming Guide, throughput of native arithmetic instructions. Rates
// of tensor cores: peaks in the white papers of V100, TU102, A100, GA102, H100, AD102 and
// Blackwell, divided by multiprocessors and boost clock.
constexpr std::array<units, 8> known_units = {{
    {"7.0", 64, 128, 256, 0, 1024, 0},
    {"7.5", 4, 128, 256, 0, 1024, 0, 2},
    {"8.0", 64, 128, 512, 1024, 2048, 2048},
    {"8.6", 4, 256, 256, 512, 1024, 1024, 2},
    {"8.9", 4, 256, 256, 512, 1024, 1024, 2},
    {"9.0", 128, 256, 512, 2048, 4096, 4096},
    {"10.0", 128, 256, 0, 4096, 8192, 8192},
    {"12.0", 4, 256, 256, 512, 1024, 1024, 2},
}};

const std::string* detail_of(const device_properties& device, std::string_view name) {
  const auto found =
      std::ranges::find(device.details, name, &std::pair<std::string, std::string>::first);
  return found == device.details.end() ? nullptr : &found->second;
}

/// Parses the leading number of a device detail, such as "1980 MHz"; empty unless positive.
std::optional<double> number_of(const device_properties& device, std::string_view name) {
  const std::string* const text = detail_of(device, name);
  if (text == nullptr) return std::nullopt;
  double value = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  if (read.ec != std::errc{} || !(value > 0)) return std::nullopt;
  return value;
}

theoretical_peak memory_peak(const device_properties& device) {
  theoretical_peak peak{"memory", {}, {}};
  const auto mhz = number_of(device, "memory clock, at most");
  const auto bits = number_of(device, "memory bus");
  if (!mhz || !bits) {
    peak.formula =
        fmt::format("the device does not state its {}", mhz ? "memory bus" : "memory clock");
    return peak;
  }
  peak.value = *mhz * 1e6 * 2 * *bits / 8;
  peak.formula = fmt::format("{:.4g} GHz x 2 x {:g} bit / 8", *mhz / 1000, *bits);
  return peak;
}

struct wanted_unit {
  std::string_view name;
  int units::*flops;
  bool cores;  ///< performs multiply-adds, which count as two FLOPs
};
constexpr std::array<wanted_unit, 6> wanted_units = {{
    {"float64 cores", &units::float64_cores, true},
    {"float32 cores", &units::float32_cores, true},
    {"float16 cores", &units::float16_cores, true},
    {"tf32 tensor cores", &units::tf32_tensor, false},
    {"float16 tensor cores", &units::float16_tensor, false},
    {"bfloat16 tensor cores", &units::bfloat16_tensor, false},
}};

}  // namespace

std::vector<theoretical_peak> theoretical_peaks(const device_properties& device,
                                                std::optional<double> clock_mhz) {
  if (device.backend != "cuda") return {};
  std::vector<theoretical_peak> peaks{memory_peak(device)};

  const std::string* const capability = detail_of(device, "compute capability");
  const auto known = std::ranges::find(
      known_units, capability == nullptr ? std::string_view() : *capability, &units::capability);
  const auto multiprocessors = number_of(device, "multiprocessors");
  const auto mhz = clock_mhz ? clock_mhz : number_of(device, "core clock, at most");
  std::string missing;
  if (capability == nullptr) {
    missing = "the device does not state its compute capability";
  } else if (known == known_units.end()) {
    missing = fmt::format("the units of compute capability {} are not in the table", *capability);
  } else if (!multiprocessors || !mhz) {
    missing = fmt::format("the device does not state its {}",
                          multiprocessors ? "core clock" : "multiprocessors");
  }
  const bool geforce = device.name.find("GeForce") != std::string::npos;
  for (const wanted_unit& unit : wanted_units) {
    if (!missing.empty()) {
      peaks.push_back({std::string(unit.name), {}, missing});
      continue;
    }
    const bool slower = !unit.cores && geforce && known->geforce_share > 1;
    const int flops = (*known).*unit.flops / (slower ? known->geforce_share : 1);
    if (flops == 0) {
      peaks.push_back(
          {std::string(unit.name),
           {},
           fmt::format("compute capability {} has none, or it is not stated", known->capability)});
      continue;
    }
    const auto each = unit.cores ? fmt::format("{} x 2", flops / 2) : std::to_string(flops);
    peaks.push_back({std::string(unit.name), *multiprocessors * flops * *mhz * 1e6,
                     fmt::format("{:g} SMs x {} x {:.4g} GHz{}", *multiprocessors, each,
                                 *mhz / 1000, slower ? ", half of a professional card's" : "")});
  }
  return peaks;
}

}  // namespace graphline
