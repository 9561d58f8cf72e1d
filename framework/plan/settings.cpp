#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/plan/planner.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// What settings say to each other, with the places where it is shown.
class settings_check {
 public:
  settings_check(const settings& run, const settings_places& places, diagnostics& out)
      : run_(run), places_(places), out_(out) {}

  void check_ranges() {
    each_setting([&]<class Held>(Held settings::*member, const setting_entry& of) {
      const auto& value = run_.*member;
      if constexpr (std::is_same_v<Held, std::int64_t>) {
        if (static_cast<double>(value) >= of.minimum) return;
        error({of.key},
              fmt::format("{} must be at least {}, found {}", of.key, *of.minimum, value));
      } else if constexpr (std::is_same_v<Held, std::optional<nanoseconds>>) {
        if (value && *value <= 0) {
          error({of.key}, fmt::format("{} must be longer than 0 ns", of.key));
        }
      }
    });
  }

  void check_load() {
    if (run_.arrival == arrival::closed) {
      check_without_schedule();
    } else if (!run_.rate) {
      error({"arrival", "rate"},
            fmt::format("arrival: {} needs to know how many frames are due in a second; add a "
                        "rate, such as rate: 30",
                        to_word(run_.arrival)));
    } else if (!can_be_kept(*run_.rate)) {
      error({"rate"}, fmt::format("rate must be from 0.000001 to 1000000 frames a second, "
                                  "found {}",
                                  *run_.rate));
    }
  }

  void check_serial() {
    if (run_.strategy != strategy::serial || run_.in_flight <= 1) return;
    error({"strategy", "in_flight"},
          fmt::format("in_flight: {} makes no sense with strategy: serial, which ends each "
                      "stage before it begins the next and so never has a second frame under "
                      "way; use in_flight: 1, or strategy: async",
                      run_.in_flight));
  }

  /// What is launched as a whole leaves nothing between to wait for or to time from the host.
  void check_frame_graph() {
    if (run_.strategy == strategy::serial) {
      error({"strategy", "graphs"},
            "strategy: serial makes no sense with graphs: frame, which launches the whole frame at "
            "once, so that the host cannot wait after each stage; use strategy: async, whose "
            "graph keeps CPU stages in declared order, or graphs: stage");
    }
    if (run_.timing == timing_method::host) {
      error({"timing", "graphs"},
            "timing: host makes no sense with graphs: frame, where no stage is launched by itself "
            "and so none has a launch to time; use timing: event or none, or graphs: stage");
    }
    if (run_.timing == timing_method::sync) {
      error({"timing", "graphs"},
            "timing: sync makes no sense with graphs: frame, since the host cannot wait for the "
            "device around a stage inside a graph; use timing: event or none, or graphs: stage");
    }
  }

  /// Allowed, since what this costs may be just what somebody wants to show.
  void warn_of_sync() {
    if (run_.in_flight > 1) {
      warning({"timing", "in_flight"},
              fmt::format("timing: sync with in_flight: {} waits for the whole device around each "
                          "stage, so its stage times contain other frames' work; for the stage "
                          "alone use in_flight: 1, or timing: event",
                          run_.in_flight));
    }
    if (run_.strategy == strategy::overlap) {
      warning({"timing", "strategy"},
              "timing: sync with strategy: overlap waits for the whole device around each stage, "
              "so its stage times contain the work of stages beside it; for the stage alone use "
              "strategy: async or serial, or timing: event");
    }
  }

 private:
  using keys = std::vector<std::string>;

  void check_without_schedule() {
    if (run_.rate) {
      error({"arrival", "rate"},
            fmt::format("rate: {} makes no sense with arrival: closed, where a frame is due as "
                        "soon as there is room for it; use arrival: constant or poisson, or leave "
                        "out the rate",
                        *run_.rate));
    }
    each_setting([&](auto member, const setting_entry& of) {
      if (applies(of, run_) || of.key == std::string_view("rate")) return;
      warn_of_idle_setting(of.key, written(run_.*member));
    });
  }

  /// Where it was written: a default changes nothing either, and nobody minds.
  void warn_of_idle_setting(const char* name, const std::string& value) {
    const place* at = given(name);
    if (at == nullptr || rests_on_unread({"arrival"})) return;
    out_.warning(*at, fmt::format("{}: {} changes nothing with arrival: closed, where no frame "
                                  "waits for room; use arrival: constant or poisson with a rate, "
                                  "or leave out {}",
                                  name, value, name));
  }

  /// Whether one of them could not be read: what it says instead is anybody's guess.
  bool rests_on_unread(const keys& about) const {
    return std::ranges::any_of(
        about, [&](const std::string& key) { return places_.unread.contains(key); });
  }

  void error(const keys& about, std::string message) {
    if (rests_on_unread(about)) return;
    out_.error(shown_at(about), std::move(message) + set_elsewhere(about));
  }

  void warning(const keys& about, std::string message) {
    if (rests_on_unread(about)) return;
    out_.warning(shown_at(about), std::move(message) + set_elsewhere(about));
  }

  const place* given(const std::string& key) const {
    const auto found = places_.each.find(key);
    return found != places_.each.end() && found->second ? &found->second : nullptr;
  }

  std::vector<std::string> options_of(const keys& about) const {
    std::vector<std::string> options;
    for (const std::string& key : about) {
      const place* at = given(key);
      if (at != nullptr && at->line == 0) options.push_back(at->source->name());
    }
    return options;
  }

  /// The options that set them, as they were given; without any, the section.
  place shown_at(const keys& about) const {
    const auto options = options_of(about);
    if (options.empty()) return places_.section;
    return {std::make_shared<source_text>(fmt::to_string(fmt::join(options, " ")), "")};
  }

  /// For a message that names an option: where the file sets the others, which it has no lines of.
  std::string set_elsewhere(const keys& about) const {
    std::string text;
    if (options_of(about).empty()) return text;
    for (const std::string& key : about) {
      const place* at = given(key);
      if (at == nullptr || at->line == 0) continue;
      text += fmt::format(" ({} is set in {}:{})", key, at->source->name(), at->line);
    }
    return text;
  }

  const settings& run_;
  const settings_places& places_;
  diagnostics& out_;
};

}  // namespace

void check_settings(const settings& run, const settings_places& places, diagnostics& out) {
  settings_check check(run, places, out);
  check.check_ranges();
  check.check_load();
  check.check_serial();
  if (run.graphs == graph_mode::frame) {
    check.check_frame_graph();
  } else if (run.timing == timing_method::sync) {
    check.warn_of_sync();
  }
}

}  // namespace graphline
