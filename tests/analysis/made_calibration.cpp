#include "tests/analysis/made_calibration.hpp"

namespace graphline::samples {

calibration round_calibration() {
  constexpr auto float32 = precision::float32;
  const auto figure = [](ceiling what, double value, double best) {
    return ceiling_figure{what, float32, value, 0.96 * value, best};
  };
  return {"2026-11-20T12:00:00Z",
          {figure(ceiling::read, 1e12, 1.05e12), figure(ceiling::copy, 0.9e12, 0.92e12),
           figure(ceiling::host_to_device_pinned, 10e9, 10.5e9),
           figure(ceiling::device_to_host_pinned, 8e9, 8.4e9),
           figure(ceiling::convolution, 50e12, 52.5e12), figure(ceiling::matmul, 40e12, 42e12),
           figure(ceiling::launch, 5e3, 4.5e3)},
          {}};
}

}  // namespace graphline::samples
