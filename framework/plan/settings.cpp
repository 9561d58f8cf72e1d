#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "framework/plan/planner.hpp"
#include "framework/plan/schedules/schedule.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// Checks settings against each other.
class settings_check {
 public:
  settings_check(const settings& run, const settings_places& places, diagnostics& out)
      : run_(run), schedule_(properties_of(run)), places_(places), out_(out) {}

  void check_ranges() {
    each_setting([&]<class Held>(Held settings::*member, const setting_entry& of) {
      const auto& value = run_.*member;
      if constexpr (std::is_same_v<Held, std::int64_t>) {
        if (static_cast<double>(value) >= of.minimum) return;
        error({of.key},
              fmt::format("{} must be at least {}, found {}", of.key, *of.minimum, value));
      } else if constexpr (std::is_same_v<Held, std::optional<nanoseconds>>) {
        if (value && static_cast<double>(*value) < of.minimum) {
          error({of.key}, fmt::format("{} must {}", of.key,
                                      *of.minimum > 0 ? "be longer than 0 ns" : "not be negative"));
        }
      }
    });
  }

  void check_load() {
    if (run_.arrival == arrival::closed) {
      check_without_schedule();
    } else if (run_.arrival == arrival::trace && !run_.arrival_file) {
      error({"arrival_file", "arrival"},
            "arrival: trace needs a file with the times at which frames are due; add it, such as "
            "arrival_file: arrivals.csv");
    } else if (run_.arrival != arrival::trace && !run_.rate) {
      error({"rate", "arrival"},
            fmt::format("arrival: {} needs to know how many frames are due in a second; add a "
                        "rate, such as rate: 30",
                        to_word(run_.arrival)));
    } else if (run_.rate && !can_be_kept(*run_.rate)) {
      error({"rate"}, fmt::format("rate must be from 0.000001 to 1000000 frames a second, "
                                  "found {}",
                                  *run_.rate));
    }
  }

  void warn_of_arrival_file() {
    const auto given = places_.each.find("arrival_file");
    if (given == places_.each.end() || run_.arrival == arrival::closed) return;
    if (run_.arrival == arrival::trace) return;
    out_.warning(given->second,
                 fmt::format("arrival_file changes nothing with arrival: {}; use arrival: trace, "
                             "or leave out arrival_file",
                             to_word(run_.arrival)));
  }

  void check_batches() {
    if (run_.batch_frames > 1 && run_.arrival == arrival::closed) {
      error(
          {"batch_frames", "arrival"},
          fmt::format("batch_frames: {} is not allowed with arrival: closed, where no frame waits "
                      "for another; use arrival: constant or poisson with a rate",
                      run_.batch_frames));
    } else if (run_.batch_frames > 1 && run_.batch_frames > run_.queue) {
      error({"batch_frames", "queue"},
            fmt::format("batch_frames: {} needs as many frames in the queue, found queue: {}",
                        run_.batch_frames, run_.queue));
    }
    const auto given = places_.each.find("batch_wait");
    if (given == places_.each.end() || !run_.batch_wait || run_.batch_frames > 1) return;
    out_.warning(given->second,
                 "batch_wait has no effect without a batch_frames above 1, the number of frames "
                 "that run together");
  }

  void check_late() {
    if (run_.late == late_rule::finish) return;
    const std::string late = fmt::format("late: {}", to_word(run_.late));
    if (!run_.deadline) {
      error({"late", "deadline"},
            fmt::format("{} needs a deadline; add one, such as deadline: 20ms", late));
    } else if (run_.late == late_rule::skip_rest && schedule_.one_launch) {
      error({"late", "graphs"},
            fmt::format("{} makes no sense with graphs: frame, which launches all stages of a "
                        "frame at once; use late: drop, or graphs: stage",
                        late));
    }
    const auto given = places_.each.find("late");
    if (given == places_.each.end() || run_.late != late_rule::drop) return;
    if (run_.arrival != arrival::closed) return;
    out_.warning(given->second,
                 fmt::format("{} changes nothing with arrival: closed, where a frame is due when "
                             "it begins; use late: skip_rest, or arrival: constant or poisson "
                             "with a rate, or omit late",
                             late));
  }

  void check_serial() {
    if (!schedule_.waits_each || run_.in_flight <= 1) return;
    error({"in_flight", "strategy"},
          fmt::format("in_flight: {} makes no sense with strategy: {}, which ends each "
                      "stage before it begins the next; use in_flight: 1, or strategy: async",
                      run_.in_flight, to_word(run_.strategy)));
  }

  /// In a frame's graph, the host can neither wait for a stage nor time it.
  void check_frame_graph() {
    if (schedule_.waits_each) {
      error({"strategy", "graphs"},
            fmt::format("strategy: {} makes no sense with graphs: frame, which leaves the host no "
                        "stage to wait for; use strategy: async, or graphs: stage",
                        to_word(run_.strategy)));
    }
    if (traits_of(run_.timing).needs_launches) {
      error({"timing", "graphs"},
            fmt::format("timing: {} makes no sense with graphs: frame, where the host launches no "
                        "stage by itself; use timing: event or none, or graphs: stage",
                        to_word(run_.timing)));
    }
  }

  void warn_of_overlap_settings() {
    if (has_workers(run_)) return;
    each_setting([&](auto member, const setting_entry& of) {
      const auto given = places_.each.find(of.key);
      const bool stays = run_.*member == settings{}.*member;
      if (!of.of_overlap || stays || given == places_.each.end()) return;
      out_.warning(given->second,
                   fmt::format("{}: {} changes nothing with {}; use strategy: overlap with graphs: "
                               "stage or off, or omit {}",
                               of.key, written(run_.*member),
                               schedule_.one_launch
                                   ? "graphs: frame, where the device calls CPU stages"
                                   : fmt::format("strategy: {}, which runs stages in planned order "
                                                 "on one thread",
                                                 to_word(run_.strategy)),
                               of.key));
    });
  }

  /// A warning, because a user may want to show what `sync` costs.
  void warn_of_sync() {
    if (run_.in_flight == 1 && schedule_.in_order) return;
    const bool several = run_.in_flight > 1;
    out_.warning(shown_at({"timing", several ? "in_flight" : "strategy"}),
                 fmt::format("timing: sync with {} waits for the whole device around each stage, "
                             "so its stage times contain other work; for the stage alone use "
                             "timing: event, or in_flight: 1 with strategy: async or serial",
                             several ? fmt::format("in_flight: {}", run_.in_flight)
                                     : fmt::format("strategy: {}", to_word(run_.strategy))));
  }

 private:
  void check_without_schedule() {
    if (run_.rate) {
      error({"rate", "arrival"},
            fmt::format("rate: {} makes no sense with arrival: closed, where a frame is due as "
                        "soon as there is room for it; use arrival: constant or poisson, or leave "
                        "out the rate",
                        *run_.rate));
    }
    each_setting([&](auto member, const setting_entry& of) {
      const std::string_view key = of.key;
      if (!of.on_schedule || key == "rate" || key.starts_with("batch_")) return;
      // Reports only settings that the user gave.
      const auto given = places_.each.find(of.key);
      if (given == places_.each.end()) return;
      out_.warning(
          given->second,
          fmt::format("{}: {} changes nothing with arrival: closed, where a frame is due "
                      "as soon as there is room for it; use arrival: {}, or leave out {}",
                      of.key, written(run_.*member),
                      key == "arrival_file" ? "trace" : "constant or poisson with a rate", of.key));
    });
  }

  void error(std::initializer_list<std::string_view> about, std::string message) {
    out_.error(shown_at(about), std::move(message));
  }

  /// Returns the place of the first of these settings given as an option; else of one given in a
  /// file; else the section.
  place shown_at(std::initializer_list<std::string_view> about) const {
    place in_file;
    for (const std::string_view key : about) {
      const auto given = places_.each.find(std::string(key));
      if (given == places_.each.end() || !given->second) continue;
      if (given->second.line == 0) return given->second;
      if (!in_file) in_file = given->second;
    }
    return in_file ? in_file : places_.section;
  }

  const settings& run_;
  schedule_properties schedule_;
  const settings_places& places_;
  diagnostics& out_;
};

}  // namespace

void check_settings(const settings& run, const settings_places& places, diagnostics& out) {
  // The value of an unread setting is unknown.
  if (!places.unread.empty()) return;
  settings_check check(run, places, out);
  check.check_ranges();
  check.check_load();
  check.warn_of_arrival_file();
  check.check_batches();
  check.check_late();
  check.check_serial();
  check.warn_of_overlap_settings();
  if (properties_of(run).one_launch) {
    check.check_frame_graph();
  } else if (run.timing == timing_method::sync) {
    check.warn_of_sync();
  }
}

void warn_of_polling(const std::vector<const plan*>& plans, const cpu_set& cpus, const place& where,
                     diagnostics& out) {
  const settings* polling = nullptr;
  std::size_t threads = 0;
  for (const plan* p : plans) {
    if (p->run.realtime == 0 || p->run.wait == wait_mode::block) continue;
    const bool devices = std::ranges::any_of(
        p->stages, [](const planned_stage& stage) { return stage.on == side::device; });
    const bool scheduled = p->run.arrival != arrival::closed;
    // One thread waits for the device and for due times, or one for each.
    const bool apart = has_workers(p->run);
    const int more = apart ? int{devices} + int{scheduled} : int{devices || scheduled};
    threads += static_cast<std::size_t>(more);
    if (more > 0) polling = &p->run;
  }
  if (polling == nullptr || cpus.empty() || threads < cpus.size()) return;
  out.warning(where,
              fmt::format("realtime: {} with wait: {} can starve other threads, such as those of "
                          "the host device: real-time threads may poll on all cores that this "
                          "process may use ({}); use wait: block",
                          polling->realtime, to_word(polling->wait), in_ranges(cpus)));
}

void set_stages_apart(settings& run) noexcept {
  run.strategy = strategy::serial;
  run.in_flight = 1;
  if (run.graphs == graph_mode::frame) run.graphs = graph_mode::stage;
  run.arrival = arrival::closed;
  run.batch_frames = 1;
  run.batch_wait.reset();
  run.rate.reset();
  run.deadline.reset();
  run.late = late_rule::finish;
}

}  // namespace graphline
