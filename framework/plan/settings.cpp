#include <fmt/format.h>

#include "framework/plan/planner.hpp"

namespace graphline {
namespace {

void check_ranges(const settings& run, const place& where, diagnostics& out) {
  const auto at_least = [&](std::string_view name, std::int64_t value, std::int64_t least) {
    if (value < least) {
      out.error(where, fmt::format("{} must be at least {}, found {}", name, least, value));
    }
  };
  at_least("in_flight", run.in_flight, 1);
  at_least("frames", run.frames, 1);
  at_least("warmup", run.warmup, 0);
  at_least("threads", run.threads, 0);
  if (run.deadline && *run.deadline <= 0) out.error(where, "deadline must be longer than 0 ns");
  at_least("queue", run.queue, 1);
}

void check_load(const settings& run, const place& where, diagnostics& out) {
  if (run.arrival == arrival::closed) {
    if (!run.rate) return;
    out.error(where, fmt::format("rate: {} makes no sense with arrival: closed, where a frame is "
                                 "due as soon as there is room for it; use arrival: constant or "
                                 "poisson, or leave out the rate",
                                 *run.rate));
    return;
  }
  if (!run.rate) {
    out.error(where, fmt::format("arrival: {} needs to know how many frames are due in a second; "
                                 "add a rate, such as rate: 30",
                                 to_word(run.arrival)));
  } else if (!(*run.rate > 0 && *run.rate <= 1e6)) {
    out.error(where, fmt::format("rate must be more than 0 and at most 1000000 frames a second, "
                                 "found {}",
                                 *run.rate));
  }
}

/// What is launched as a whole leaves nothing between to wait for or to time from the host.
void check_frame_graph(const settings& run, const place& where, diagnostics& out) {
  if (run.strategy == strategy::serial) {
    out.error(
        where,
        "strategy: serial makes no sense with graphs: frame, which launches the whole frame at "
        "once, so that the host cannot wait after each stage; use strategy: async, whose "
        "graph keeps CPU stages in declared order, or graphs: stage");
  }
  if (run.timing == timing_method::host) {
    out.error(
        where,
        "timing: host makes no sense with graphs: frame, where no stage is launched by itself "
        "and so none has a launch to time; use timing: event or none, or graphs: stage");
  }
  if (run.timing == timing_method::sync) {
    out.error(where,
              "timing: sync makes no sense with graphs: frame, since the host cannot wait for the "
              "device around a stage inside a graph; use timing: event or none, or graphs: stage");
  }
}

}  // namespace

void check_settings(const settings& run, const place& where, diagnostics& out) {
  check_ranges(run, where, out);
  check_load(run, where, out);
  if (run.strategy == strategy::serial && run.in_flight > 1) {
    out.error(where,
              fmt::format("in_flight: {} makes no sense with strategy: serial, which ends each "
                          "stage before it begins the next and so never has a second frame under "
                          "way; use in_flight: 1, or strategy: async",
                          run.in_flight));
  }
  if (run.graphs == graph_mode::frame) check_frame_graph(run, where, out);
  if (run.timing != timing_method::sync || run.graphs == graph_mode::frame) return;
  // Allowed, since what this costs may be just what somebody wants to show.
  if (run.in_flight > 1) {
    out.warning(
        where, fmt::format("timing: sync with in_flight: {} waits for the whole device around each "
                           "stage, so its stage times contain other frames' work; for the stage "
                           "alone use in_flight: 1, or timing: event",
                           run.in_flight));
  }
  if (run.strategy == strategy::overlap) {
    out.warning(where,
                "timing: sync with strategy: overlap waits for the whole device around each stage, "
                "so its stage times contain the work of stages beside it; for the stage alone use "
                "strategy: async or serial, or timing: event");
  }
}

}  // namespace graphline
