#include "tests/analysis/simulated_run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace graphline::samples {

namespace {

constexpr std::size_t frame_count = 8;
constexpr std::size_t frame_begin = static_cast<std::size_t>(-1);

/// What ended last of all that something waited for, and what the time after it is called.
struct cause {
  std::size_t node = frame_begin;
  nanoseconds end = 0;
  time_category gap = time_category::worker_wait;

  void consider(const cause& other) {
    if (other.end > end) *this = other;
  }
};

/// Something done for a frame.
struct node {
  bool done = false;
  nanoseconds begin = 0;
  nanoseconds end = 0;
  std::size_t thread = 0;
  cause held_by;
  std::vector<std::pair<time_category, nanoseconds>>
      gaps;  ///< from the end of `held_by` to the begin
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed) : generator_(seed) {
    result_.record = drawn_pipeline(generator_);
    frames_.assign(frame_count, std::vector<node>(2 * count() + 1));
    run().frames.resize(frame_count);
  }

  simulated_run carry_out() && {
    if (whole_graphs()) {
      as_graphs();
    } else if (run().run.strategy == strategy::overlap) {
      on_threads();
    } else {
      in_sequence();
    }
    for (std::size_t f = 0; f < frame_count; ++f) {
      keep_stamps(f);
      result_.truth.push_back(truth_of(f));
    }
    return std::move(result_);
  }

 private:
  run_record& run() { return result_.record; }
  std::size_t count() { return run().stages.size(); }
  std::size_t depth() { return static_cast<std::size_t>(run().run.in_flight); }
  bool whole_graphs() { return run().run.graphs == graph_mode::frame; }
  bool synced() { return run().run.timing == timing_method::sync; }
  bool on_device(std::size_t s) { return run().stages[s].on == side::device; }
  std::size_t one_of(std::size_t n) { return static_cast<std::size_t>(generator_() % n); }
  /// Mostly short and now and then long.
  nanoseconds some_time() {
    return 1 + static_cast<nanoseconds>(one_of(one_of(3) == 0 ? 200'000 : 9'000));
  }
  nanoseconds short_time() { return 1 + static_cast<nanoseconds>(one_of(700)); }

  static std::size_t work(std::size_t s) { return 2 * s; }
  static std::size_t launch(std::size_t s) { return 2 * s + 1; }
  std::size_t graph() { return 2 * count(); }

  void set(std::size_t f, std::size_t n, nanoseconds begin, nanoseconds end, const cause& by) {
    auto& it = frames_[f][n];
    it.done = true;
    it.begin = begin;
    it.end = end;
    it.held_by = by;
    if (begin > by.end) it.gaps.push_back({by.gap, begin - by.end});
  }

  /// What the host waits for before it takes up a stage: its inputs and, before what waits for
  /// none, the frame.
  cause host_cause(std::size_t f, std::size_t s) {
    cause by{.end = run().frames[f].begin};
    for (const auto& wait : run().stages[s].waits) {
      const bool complete = wait.how == satisfied_by::completion;
      const bool handed_over = on_device(wait.stage) && !synced();
      if (complete || !handed_over) {
        by.consider(
            {work(wait.stage), frames_[f][work(wait.stage)].end,
             complete && !synced() ? time_category::completion_delay : time_category::worker_wait});
      }
      if (handed_over) {
        by.consider({launch(wait.stage), frames_[f][launch(wait.stage)].end,
                     complete ? time_category::completion_delay : time_category::worker_wait});
      }
    }
    return by;
  }

  /// A device stage that its launch has been drawn for, or a stage in a frame's graph.
  void on_stream(std::size_t f, std::size_t s, std::size_t launched_by, bool root) {
    const auto& stage = run().stages[s];
    cause by{.end = run().frames[f].begin, .gap = time_category::stream_wait};
    for (const auto& wait : stage.waits) {
      if (!whole_graphs() && !on_device(wait.stage)) continue;
      by.consider({work(wait.stage), frames_[f][work(wait.stage)].end, time_category::stream_wait});
    }
    const bool one_at_a_time = run().device.one_at_a_time && on_device(s);
    const std::string lane = one_at_a_time ? "the device" : on_device(s) ? stage.stream : "calls";
    auto& of_frame = last_of_frame_[{lane, f}];
    if (of_frame) by.consider({*of_frame, frames_[f][*of_frame].end, time_category::stream_wait});
    auto& last = last_in_[lane];
    nanoseconds begin = std::max(by.end, last ? frames_[last->first][last->second].end : 0);
    if (root) {
      // Its work is handed over when the call begins, and starts at once, or when it ends.
      const auto& call = frames_[f][launched_by];
      const bool early = one_of(2) == 0;
      begin = std::max(begin, early ? call.begin : call.end) + (early ? 0 : short_time());
      by.consider(
          {launched_by, call.end <= begin ? call.end : call.begin, time_category::stream_wait});
      if (by.node == launched_by) by.end = std::min(call.end, begin);
    } else {
      begin += short_time();
    }
    set(f, work(s), begin, begin + some_time(), by);
    last = {f, work(s)};
    of_frame = work(s);
  }

  nanoseconds last_end(std::size_t f) {
    nanoseconds end = run().frames[f].begin;
    for (const auto& n : frames_[f]) end = n.done ? std::max(end, n.end) : end;
    return end;
  }

  nanoseconds begin_frame(std::size_t f, nanoseconds free) {
    auto& frame = run().frames[f];
    const bool closed = run().run.arrival == arrival::closed;
    next_due_ += some_time();
    frame.due = closed ? free : next_due_;
    frame.begin = std::max(free, frame.due);
    return frame.begin;
  }

  nanoseconds end_frame(std::size_t f, nanoseconds free) {
    return run().frames[f].end = std::max(free, last_end(f)) + short_time();
  }

  /// `serial` and `async`: one thread, stages as planned.
  void in_sequence() {
    nanoseconds host = 0;
    nanoseconds busy_until = 0;
    for (std::size_t f = 0; f < frame_count + depth(); ++f) {
      if (f >= depth()) {
        const bool by_others = f - depth() + 1 < std::min(f, frame_count);
        if (by_others) busy_at_end_[f - depth()] = busy_until;
        host = end_frame(f - depth(), host);
      }
      if (f >= frame_count) continue;
      host = begin_frame(f, host + short_time());
      std::optional<std::size_t> before;
      for (std::size_t s = 0; s < count(); ++s) {
        cause by = host_cause(f, s);
        if (run().run.strategy == strategy::serial && s > 0 && on_device(s - 1) && !synced()) {
          by.consider({work(s - 1), frames_[f][work(s - 1)].end, time_category::completion_delay});
          by.consider(
              {launch(s - 1), frames_[f][launch(s - 1)].end, time_category::completion_delay});
        }
        if (before) by.consider({*before, host, time_category::worker_wait});
        const nanoseconds begin = by.end + short_time();
        const bool launches = on_device(s) && !synced();
        before = launches ? launch(s) : work(s);
        host = begin + (launches ? short_time() : some_time());
        busy_until = host;
        set(f, *before, begin, host, by);
        if (launches) on_stream(f, s, launch(s), true);
      }
    }
  }

  /// `graphs: frame`: each frame as one launch, frames one after another, all CPU stages on one
  /// thread of the device.
  void as_graphs() {
    nanoseconds host = 0;
    nanoseconds device = 0;
    for (std::size_t f = 0; f < frame_count + depth(); ++f) {
      if (f >= depth()) host = end_frame(f - depth(), host);
      if (f >= frame_count) continue;
      const nanoseconds begin = begin_frame(f, host + short_time());
      host = begin + short_time();
      set(f, graph(), begin, host, {.end = begin});
      for (auto& [name, last] : last_in_) last.reset();
      for (std::size_t s = 0; s < count(); ++s) {
        on_stream(f, s, graph(), run().stages[s].waits.empty());
        auto& it = frames_[f][work(s)];
        it.thread = 1;
        if (it.begin >= device || it.held_by.node != graph()) continue;
        // The frame before is still at work; what the graph's launch had left is that too.
        it.held_by.end = std::min(frames_[f][graph()].end, device);
        it.gaps = {{time_category::stream_wait, device - it.held_by.end}};
        it.end += device - it.begin;
        it.begin = device;
      }
      device = last_end(f);
    }
  }

  struct item {
    std::size_t missing = 0;
    nanoseconds turn = 0;  ///< when the same stage was through with the frame before
    nanoseconds ready = 0;
  };

  struct worker {
    nanoseconds free = 0;
    std::optional<std::pair<std::size_t, std::size_t>> last;  ///< frame and node
  };

  /// `overlap`: whatever is ready first goes to the thread that is free first.
  void on_threads() {
    std::vector<worker> workers(1 + one_of(3));
    run().cpu_cores = static_cast<int>(workers.size());
    std::vector<std::vector<item>> items(frame_count, std::vector<item>(count()));
    std::vector<std::size_t> left(frame_count, count());
    std::map<std::pair<nanoseconds, std::pair<std::size_t, std::size_t>>, bool> open;
    const auto release = [&](std::size_t f, std::size_t s, nanoseconds at) {
      item& it = items[f][s];
      it.ready = std::max(it.ready, at);
      if (--it.missing == 0) open[{it.ready, {f, s}}] = true;
    };
    const auto begin = [&](std::size_t f, nanoseconds free) {
      const nanoseconds at = begin_frame(f, free);
      for (std::size_t s = 0; s < count(); ++s) release(f, s, at);
    };
    for (std::size_t f = 0; f < frame_count; ++f) {
      for (std::size_t s = 0; s < count(); ++s) {
        items[f][s].missing = 1 + run().stages[s].waits.size() + (f > 0 ? 1 : 0);
      }
    }
    for (std::size_t f = 0; f < depth(); ++f) begin(f, next_due_ + short_time());
    while (!open.empty()) {
      const auto [f, s] = open.begin()->first.second;
      open.erase(open.begin());
      take_up(f, s, items[f][s].turn, workers);
      const auto& by_host = frames_[f][on_device(s) ? launch(s) : work(s)];
      for (std::size_t later = s + 1; later < count(); ++later) {
        for (const auto& wait : run().stages[later].waits) {
          if (wait.stage != s) continue;
          const bool complete = wait.how == satisfied_by::completion;
          release(f, later, complete ? last_of(f, s) : by_host.end);
        }
      }
      if (f + 1 < frame_count) {
        items[f + 1][s].turn = by_host.end;
        release(f + 1, s, by_host.end);
      }
      if (--left[f] > 0) continue;
      const nanoseconds end = end_frame(f, 0);
      if (f + depth() < frame_count) begin(f + depth(), end + short_time());
    }
  }

  nanoseconds last_of(std::size_t f, std::size_t s) {
    return std::max(frames_[f][work(s)].end, frames_[f][launch(s)].end);
  }

  void take_up(std::size_t f, std::size_t s, nanoseconds turn, std::vector<worker>& workers) {
    auto& by_worker =
        *std::min_element(workers.begin(), workers.end(),
                          [](const worker& a, const worker& b) { return a.free < b.free; });
    cause by = host_cause(f, s);
    nanoseconds busy = 0;
    if (by_worker.last && by_worker.last->first != f) busy = by_worker.free;
    for (const auto& n : frames_[f]) {
      const bool here =
          n.done && n.thread == 1 + static_cast<std::size_t>(&by_worker - &workers[0]);
      const auto index = static_cast<std::size_t>(&n - &frames_[f][0]);
      const bool by_host = here && (index % 2 == 1 || !on_device(index / 2));
      if (by_host) by.consider({index, n.end, time_category::worker_wait});
    }
    const nanoseconds begin = std::max({by.end, turn, by_worker.free}) + short_time();
    const std::size_t done_by_host = on_device(s) ? launch(s) : work(s);
    by_worker.free = begin + (on_device(s) ? short_time() : some_time());
    by_worker.last = {f, done_by_host};
    set(f, done_by_host, begin, by_worker.free, by);
    auto& it = frames_[f][done_by_host];
    it.thread = 1 + static_cast<std::size_t>(&by_worker - &workers[0]);
    it.gaps.clear();
    nanoseconds from = by.end;
    time_category rest = by.gap;
    if (turn > from) {
      it.gaps.push_back({time_category::previous_frame_wait, turn - from});
      from = turn;
      rest = time_category::worker_wait;
    }
    if (busy > from) {
      it.gaps.push_back({time_category::worker_wait, busy - from});
      from = busy;
    }
    it.gaps.push_back({rest, begin - from});
    if (on_device(s)) on_stream(f, s, launch(s), true);
  }

  void keep_stamps(std::size_t f) {
    for (std::size_t s = 0; s < count(); ++s) {
      auto& stage = run().stages[s];
      const node& done = frames_[f][work(s)];
      stamp_pair stamps{done.begin, done.end};
      if (on_device(s) && !synced() && run().device.tells_busy_time) {
        // The first event passes at once, while the device may still be at work for other streams.
        stage.busy.push_back(stamps.length());
        stamps.begin -= static_cast<nanoseconds>(
            one_of(static_cast<std::size_t>(stamps.begin - run().frames[f].begin + 1)));
      }
      (!on_device(s) ? stage.cpu : synced() ? stage.synced : stage.device).push_back(stamps);
      const node& call = frames_[f][launch(s)];
      if (call.done) stage.enqueued.push_back({call.begin, call.end});
      if (whole_graphs() && on_device(s)) continue;
      stage.threads.push_back(static_cast<std::uint32_t>((call.done ? call : done).thread));
    }
    const node& whole = frames_[f][graph()];
    if (whole.done) run().launches.push_back({whole.begin, whole.end});
  }

  simulated_run::by_kind truth_of(std::size_t f) {
    simulated_run::by_kind sum{};
    const auto add = [&](time_category what, nanoseconds time) {
      sum[static_cast<std::size_t>(what)] += time;
    };
    const auto& frame = run().frames[f];
    add(time_category::queue_wait, frame.begin - frame.due);
    const auto& nodes = frames_[f];
    std::size_t at = 0;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].done && (!nodes[at].done || nodes[n].end > nodes[at].end)) at = n;
    }
    const nanoseconds free = std::max(busy_at_end_[f], nodes[at].end);
    add(time_category::worker_wait, free - nodes[at].end);
    add(time_category::completion_delay, frame.end - free);
    nanoseconds until = nodes[at].end;
    while (true) {
      const node& it = nodes[at];
      const bool is_work = at != graph() && at % 2 == 0;
      const auto& stage = run().stages[std::min(at / 2, count() - 1)];
      add(!is_work                ? time_category::launch
          : stage.on == side::cpu ? time_category::cpu
          : stage.copy            ? time_category::copy
                                  : time_category::device,
          until - it.begin);
      for (const auto& [what, time] : it.gaps) add(what, time);
      if (it.held_by.node == frame_begin) return sum;
      at = it.held_by.node;
      until = it.held_by.end;
    }
  }

  std::mt19937_64 generator_;
  simulated_run result_;
  std::vector<std::vector<node>> frames_;  ///< by frame and node
  /// Frame and node of what each stream had last.
  std::map<std::string, std::optional<std::pair<std::size_t, std::size_t>>> last_in_;
  std::map<std::pair<std::string, std::size_t>, std::optional<std::size_t>> last_of_frame_;
  /// By frame: until when the one thread was busy with others before it looked for the end.
  std::array<nanoseconds, frame_count> busy_at_end_{};
  nanoseconds next_due_ = 0;
};

}  // namespace

simulated_run simulate(std::uint64_t seed) {
  return simulation(seed).carry_out();
}

run_record with_unsure_clock(run_record record, nanoseconds error, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto width = static_cast<std::uint64_t>(2 * error + 1);
  const auto off = [&] { return static_cast<nanoseconds>(generator() % width) - error; };
  record.clock_error = error;
  for (auto& stage : record.stages) {
    for (std::size_t i = 0; i < stage.device.size(); ++i) {
      auto& stamps = stage.device[i];
      const nanoseconds begin = stamps.begin + off();
      stamps = {begin, std::max(begin + 1, stamps.end + off())};
      if (i < stage.busy.size()) stage.busy[i] = std::min(stage.busy[i], stamps.length());
    }
  }
  return record;
}

}  // namespace graphline::samples
