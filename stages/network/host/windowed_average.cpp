#include "stages/network/host/windowed_average.hpp"

#include <utility>

namespace graphline {

namespace {

class windowed_average_operation final : public host_operation {
 public:
  windowed_average_operation(std::string name, windowed_average windows, const float* from,
                             float* to)
      : name_(std::move(name)), windows_(std::move(windows)), from_(from), to_(to) {}

  std::string_view name() const noexcept override { return name_; }

  void run() override {
    const std::int64_t in_plane = windows_.height * windows_.width;
    const auto out_plane =
        static_cast<std::int64_t>(windows_.rows.size() * windows_.columns.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t plane = 0; plane < windows_.planes; ++plane) {
      average_plane(from_ + plane * in_plane, to_ + plane * out_plane);
    }
  }

 private:
  void average_plane(const float* from, float* to) const {
    for (const window& row : windows_.rows) {
      for (const window& column : windows_.columns) {
        double sum = 0;
        for (std::int64_t y = row.begin; y < row.end; ++y) {
          const float* line = from + y * windows_.width;
          for (std::int64_t x = column.begin; x < column.end; ++x) {
            sum += static_cast<double>(line[x]);
          }
        }
        *to++ = static_cast<float>(sum / static_cast<double>(row.divisor * column.divisor));
      }
    }
  }

  std::string name_;
  windowed_average windows_;
  const float* from_;
  float* to_;
};

}  // namespace

std::unique_ptr<host_operation> make_windowed_average(std::string name, windowed_average windows,
                                                      const float* from, float* to) {
  return std::make_unique<windowed_average_operation>(std::move(name), std::move(windows), from,
                                                      to);
}

}  // namespace graphline
