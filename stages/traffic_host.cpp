#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "stages/host/memory_loops.hpp"
#include "stages/traffic.hpp"

namespace graphline {

namespace {

/// Elements in a row that one thread deals with at a time: 1 MiB. The threads take whole pieces, so
/// that a sum does not depend on how many there are.
constexpr std::int64_t piece = 1 << 18;

constexpr std::int64_t pieces_of(std::int64_t count) noexcept {
  return (count + piece - 1) / piece;
}

class copy_operation final : public host_operation {
 public:
  copy_operation(float* to, const float* from, std::int64_t count)
      : to_(to), from_(from), count_(count) {}

  std::string_view name() const noexcept override { return "traffic copy"; }

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < pieces_of(count_); ++i) {
      const std::int64_t begin = i * piece;
      copy_past_caches(to_ + begin, from_ + begin, std::min(piece, count_ - begin));
    }
  }

 private:
  float* to_;
  const float* from_;
  std::int64_t count_;
};

class write_operation final : public host_operation {
 public:
  write_operation(float* to, std::int64_t count) : to_(to), count_(count) {}

  std::string_view name() const noexcept override { return "traffic write"; }

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < pieces_of(count_); ++i) {
      const std::int64_t begin = i * piece;
      write_past_caches(to_ + begin, 0, std::min(piece, count_ - begin));
    }
  }

 private:
  float* to_;
  std::int64_t count_;
};

class read_operation final : public host_operation {
 public:
  read_operation(float* to, const float* from, std::int64_t count)
      : to_(to), from_(from), count_(count), sums_(static_cast<std::size_t>(pieces_of(count))) {}

  std::string_view name() const noexcept override { return "traffic read"; }

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < pieces_of(count_); ++i) {
      const std::int64_t begin = i * piece;
      sums_[static_cast<std::size_t>(i)] = sum_of(from_ + begin, std::min(piece, count_ - begin));
    }
    *to_ = static_cast<float>(std::accumulate(sums_.begin(), sums_.end(), 0.0));
  }

 private:
  float* to_;
  const float* from_;
  std::int64_t count_;
  std::vector<float> sums_;  ///< of the pieces
};

class traffic_work final : public device_work {
 public:
  explicit traffic_work(std::unique_ptr<host_operation> operation)
      : operation_(std::move(operation)) {}

  void enqueue(stream& s) override { host_enqueue(s, *operation_); }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    enqueue(s);
    marker.part_enqueued(s);
  }

 private:
  std::unique_ptr<host_operation> operation_;
};

class traffic_stage final : public device_stage {
 public:
  explicit traffic_stage(const stage_config& config)
      : method_(traffic_method_of(config.arguments)),
        count_(config.inputs.at(0).shape.elements()) {}

  std::vector<stage_part> parts() const override {
    const cost amount = traffic_cost(method_, count_);
    if (method_ == traffic_method::read) {
      return {{"read", fmt::format("sums by {}", sum_instructions()), amount}};
    }
    const char* name = method_ == traffic_method::copy ? "copy" : "write";
    return {{name, std::string(store_instructions()), amount}};
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    const auto* from = tensors.inputs.at(0).as<float>();
    auto* to = tensors.outputs.at(0).as<float>();
    std::unique_ptr<host_operation> operation;
    switch (method_) {
      case traffic_method::read:
        operation = std::make_unique<read_operation>(to, from, count_);
        break;
      case traffic_method::write:
        operation = std::make_unique<write_operation>(to, count_);
        break;
      case traffic_method::copy:
        operation = std::make_unique<copy_operation>(to, from, count_);
        break;
    }
    return std::make_unique<traffic_work>(std::move(operation));
  }

 private:
  traffic_method method_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<device_stage> make_traffic_host(device& /*d*/, const stage_config& config) {
  return std::make_unique<traffic_stage>(config);
}

}  // namespace graphline
