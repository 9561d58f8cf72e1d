#include "framework/analysis/run/period_limit.hpp"

#include <algorithm>
#include <numeric>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

/// Returns the mean length per frame, in ns; `stamps_of(pass)` returns optional stamps.
template <class StampsOf>
double mean_length(const run_record& record, StampsOf stamps_of) {
  const std::size_t passes = run_passes(record).size();
  double sum = 0;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    if (const auto stamps = stamps_of(pass)) sum += static_cast<double>(stamps->length());
  }
  return sum / static_cast<double>(record.frames.size());
}

/// Computes which fraction of the period each `serial_resource` of a run is busy.
class period_uses {
 public:
  period_uses(const run_record& record, double period) : record_(record), period_(period) {
    std::vector<double> work;
    for (const auto& stage : record.stages) {
      work.push_back(mean_length(record, [&](auto pass) { return work_stamps(stage, pass); }));
    }
    for (std::size_t s = 0; s < work.size(); ++s) add(serial_resource::stage, {s}, work[s]);

    const auto sum_of = [&](const std::vector<std::size_t>& stages) {
      return std::accumulate(stages.begin(), stages.end(), 0.0,
                             [&](double sum, std::size_t s) { return sum + work[s]; });
    };
    const schedule_properties schedule = properties_of(record.run);
    const auto on_cpu = stages_on(side::cpu);
    if (schedule.one_host_thread()) {
      double launches = 0;
      for (const auto& stage : record.stages) {
        launches +=
            mean_length(record, [&](auto pass) { return sound_stamps(stage.enqueued, pass); });
      }
      add(serial_resource::host_thread, on_cpu, sum_of(on_cpu) + launches);
    } else if (const int cores = schedule.one_launch ? 1 : record.cpu_cores; cores > 0) {
      add(serial_resource::cpu_cores, on_cpu, sum_of(on_cpu) / cores);
    }
    // Spans between events may include work of other streams, so they do not add up.
    for (std::size_t device = 0; device < std::max<std::size_t>(1, record.devices.size());
         ++device) {
      auto on_device = stages_on(side::device);
      std::erase_if(on_device,
                    [&](std::size_t s) { return record.stages[s].device_index != device; });
      const auto& of = record.devices.empty() ? record.device : record.devices[device].properties;
      const bool apart = record.run.timing == timing_method::sync || of.reports_busy_time;
      if (of.one_at_a_time && apart) add(serial_resource::device, on_device, sum_of(on_device));
    }
  }

  std::optional<period_limit> fullest() const {
    constexpr double full = 0.9;
    constexpr double alike = 0.01;
    double most = 0;
    for (const auto& use : uses_) most = std::max(most, use.share);
    if (most < full) return std::nullopt;
    std::optional<period_limit> result;
    for (const auto& use : uses_) {
      if (use.share < most - alike) continue;
      if (!result) {
        result = use;
      } else if (result->what == serial_resource::stage && use.what == serial_resource::stage) {
        result->stages.push_back(use.stages.front());
        result->share = std::max(result->share, use.share);
      }
    }
    return result;
  }

 private:
  std::vector<std::size_t> stages_on(side where) const {
    std::vector<std::size_t> stages;
    for (std::size_t s = 0; s < record_.stages.size(); ++s) {
      if (record_.stages[s].on == where) stages.push_back(s);
    }
    return stages;
  }

  void add(serial_resource what, std::vector<std::size_t> stages, double work) {
    uses_.push_back({what, std::move(stages), period_, work / period_});
  }

  const run_record& record_;
  double period_;
  std::vector<period_limit> uses_;
};

}  // namespace

std::optional<period_limit> limit_of_period(const run_record& record) {
  const bool alone = record.run.in_flight <= 1;
  if (record.frames.empty() || (alone && !is_scheduled(record.run))) return std::nullopt;
  if (is_scheduled(record.run) && !overload_of(record)) return std::nullopt;
  const auto period = frame_period(record);
  if (!period) return std::nullopt;
  return period_uses(record, *period).fullest();
}

}  // namespace graphline
