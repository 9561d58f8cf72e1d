#include "tests/report/sample_calibrations.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace graphline::samples {

namespace {

constexpr auto float32 = precision::float32;

/// Five samples around a value over a range of `spread` times the value.
ceiling_record around(ceiling what, precision arithmetic, std::string how, double amount,
                      double value, double spread) {
  ceiling_record record{what, arithmetic, std::move(how), amount, {}};
  for (const double off : {0.1, -0.5, 0.0, 0.5, -0.2}) {
    const double at = value * (1 + off * spread);
    const double ns = unit_of(what) == unit::duration ? at * amount : amount * 1e9 / at;
    record.times.push_back(std::llround(ns));
  }
  return record;
}

std::vector<ceiling_record> costs_of_host(double factor) {
  return {
      around(ceiling::launch, float32, "a graph of one copy of 4 B", 100, 1100 * factor, 0.05),
      around(ceiling::event, float32, "a timed event on an idle stream", 1000, 310 * factor, 0.02),
      around(ceiling::synchronize, float32, "a device that has nothing to do", 1000, 95 * factor,
             0.02),
      around(ceiling::round_trip, float32, "launch of that graph, then wait spin", 1, 9200 * factor,
             0.34)};
}

void append(std::vector<ceiling_record>& to, std::vector<ceiling_record> what) {
  for (auto& c : what) to.push_back(std::move(c));
}

}  // namespace

calibration_record host_calibration() {
  calibration_record record;
  record.device = {"host",
                   "A Processor(R) CPU @ 2.80GHz",
                   std::uint64_t{16} << 30,
                   1,
                   3,
                   true,
                   true,
                   {},
                   {{"cores", "2"}, {"vector instructions", "AVX-512"}}};
  record.environment = {{"graphline", "0.5.0"},
                        {"date", "2026-11-20T12:00:00Z"},
                        {"processor", "A Processor(R) CPU @ 2.80GHz"},
                        {"oneDNN", "2.6.2"}};
  const std::string memory = "[134217728] float32, read by one compute thread";
  record.ceilings = {
      around(ceiling::read, float32, memory, 512e6, 9.5e9, 0.03),
      around(ceiling::copy, float32, "[134217728] float32", 1024e6, 8.7e9, 0.04),
      around(ceiling::host_to_device_pinned, float32, "512 MiB", 512e6, 4.4e9, 0.02),
      around(ceiling::device_to_host_pinned, float32, "512 MiB", 512e6, 4.3e9, 0.02),
      around(ceiling::host_to_device_pageable, float32, "512 MiB", 512e6, 4.1e9, 0.02),
      around(ceiling::device_to_host_pageable, float32, "512 MiB", 512e6, 4.2e9, 0.02),
      around(ceiling::convolution, float32, "512 to 512 channels, 5x5, on [1, 512, 32, 32]; jit",
             13.4e9, 96e9, 0.02),
      around(ceiling::matmul, float32, "[2048, 2048] x [2048, 2048]", 17.2e9, 88e9, 0.03)};
  append(record.ceilings, costs_of_host(1));
  return record;
}

calibration_record gpu_calibration() {
  calibration_record record;
  record.device = {"cuda",
                   "NVIDIA H200",
                   std::uint64_t{141} << 30,
                   0,
                   3,
                   false,
                   false,
                   {},
                   {{"compute capability", "9.0"},
                    {"multiprocessors", "132"},
                    {"core clock, at most", "1980 MHz"},
                    {"memory clock, at most", "3201 MHz"},
                    {"memory bus", "6144 bit"}}};
  record.environment = {{"graphline", "0.5.0"},
                        {"date", "2026-11-20T12:00:00Z"},
                        {"processor", "A Processor(R) CPU @ 2.80GHz"},
                        {"cuDNN", "9.19"}};
  record.ceilings = {
      around(ceiling::read, float32, "[67108864] float32", 268e6, 4.21e12, 0.01),
      around(ceiling::copy, float32, "[67108864] float32", 537e6, 3.97e12, 0.01),
      around(ceiling::host_to_device_pinned, float32, "256 MiB", 268e6, 55.2e9, 0.01),
      around(ceiling::device_to_host_pinned, float32, "256 MiB", 268e6, 54.8e9, 0.01),
      around(ceiling::host_to_device_pageable, float32, "256 MiB", 268e6, 11.3e9, 0.13)};
  const std::pair<precision, double> rates[] = {{precision::float32, 51.4e12},
                                                {precision::tf32, 402e12},
                                                {precision::float16, 745e12},
                                                {precision::bfloat16, 731e12}};
  for (const auto what : {ceiling::convolution, ceiling::matmul}) {
    for (const auto& [arithmetic, rate] : rates) {
      const bool product = what == ceiling::matmul;
      record.ceilings.push_back(around(
          what, arithmetic,
          product ? "[8192, 8192] x [8192, 8192]; cuBLASLt, the fastest of those tried"
                  : "512 to 512 channels, 5x5, on [1, 512, 256, 256]; cuDNN, the fastest of those "
                    "tried",
          product ? 1.1e12 : 859e9, product ? 0.97 * rate : rate, 0.02));
    }
  }
  append(record.ceilings, costs_of_host(2.3));
  record.warnings = {"no bandwidth from the device to pageable memory: the copy failed"};
  return record;
}

}  // namespace graphline::samples
