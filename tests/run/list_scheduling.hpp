#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/plan/schedules/schedule.hpp"
#include "tests/run/drawn_plan.hpp"

// What schedules mean, worked out without the code that carries them out.

namespace graphline::testing_plans {

/// When a stage of a frame was begun, where that is seen, and ended.
struct span {
  nanoseconds begin = 0;
  nanoseconds end = 0;
  friend bool operator==(const span&, const span&) = default;
};

/// By frame, then stage.
template <class T>
using of_frames = std::vector<std::vector<T>>;

struct outcome {
  of_frames<span> stages;  ///< of device stages the end only
  std::vector<span> frames;
  std::vector<bool> cut = {};  ///< by frame: whether `late: skip_rest` ended it early
};

struct drawn_run {
  plan planned;
  std::size_t workers = 1;
  int operations_at_once = 1;
  of_frames<nanoseconds> times;

  // Of a policy.
  std::vector<nanoseconds> expected = {};  ///< times of stages
  /// What goes first of what is ready; the frame was due at `due`.
  std::function<std::pair<nanoseconds, nanoseconds>(std::size_t frame, std::size_t stage,
                                                    nanoseconds due)>
      rank = {};
};

inline constexpr std::size_t streams = 3;  // one of each priority, so that no two have the same

/// All that a plan has beside its stages.
inline void finish(plan& p, strategy how, graph_mode graphs, std::size_t in_flight) {
  p.pipeline = "drawn";
  p.run.strategy = how;
  p.run.graphs = graphs;
  p.run.in_flight = static_cast<std::int64_t>(in_flight);
  p.run.timing = timing_method::event;
  p.run.warmup = 0;
  for (const auto level : {priority::high, priority::normal, priority::low}) {
    p.streams.push_back({.name = std::string(to_word(level)), .priority = level});
  }
  p.schedule = planning::make_schedule(p);
}

/// Up to 8 frames of stages of random times.
inline void draw_times(drawn_run& made, random_source& random, std::size_t longest) {
  const std::size_t frames = 1 + below(random, 8);
  made.times.assign(frames, std::vector<nanoseconds>(made.planned.stages.size()));
  for (auto& frame : made.times) {
    for (nanoseconds& time : frame) time = 1 + static_cast<nanoseconds>(below(random, longest));
  }
}

/// Random stages, times, numbers of workers and frames in flight.
inline drawn_run draw(std::uint64_t seed, strategy how, std::size_t in_flight,
                      std::size_t longest = 1'000'000) {
  random_source random(seed);
  drawn_run made;
  made.planned = random_plan(random, 12, streams);
  plan& p = made.planned;
  finish(p, how, below(random, 2) == 0 ? graph_mode::off : graph_mode::stage, in_flight);
  made.workers = 1 + below(random, 4);
  draw_times(made, random, longest);
  return made;
}

/// What the definition of a schedule says of a run, worked out from one moment to the next. It
/// knows the device as one engine that takes the most urgent stream whose next stage may start.
class list_scheduling {
 public:
  explicit list_scheduling(const drawn_run& run)
      : run_(run),
        plan_(run.planned),
        count_(plan_.stages.size()),
        states_(run.times.size(), std::vector<state>(count_)),
        cores_(run.workers) {
    result_.stages.assign(run.times.size(), std::vector<span>(count_));
    result_.frames.resize(run.times.size());
    result_.cut.resize(run.times.size());
  }

  outcome carry_out() && {
    while (true) {
      settle();
      if (ended_ == run_.times.size()) return std::move(result_);
      end_next();
    }
  }

 private:
  struct state {
    bool issued = false;   ///< or taken by a core
    bool started = false;  ///< by the device
    bool returned = false;
    bool complete = false;
    bool cut = false;  ///< it takes no time
  };
  struct running {
    nanoseconds end;
    std::size_t frame;
    std::size_t stage;
  };

  bool on_cpu(std::size_t s) const { return plan_.stages[s].on == side::cpu; }
  std::size_t depth() const { return static_cast<std::size_t>(plan_.run.in_flight); }
  state& at(std::size_t f, std::size_t s) { return states_[f][s]; }

  /// All that happens at this moment.
  void settle() {
    // The device chooses once nothing else happens any more.
    while (begin_frame() || end_frame() || take_up() || start_on_device()) {
    }
  }

  bool begin_frame() {
    if (begun_ == run_.times.size() || begun_ == ended_ + depth()) return false;
    // One host thread begins a frame when it is done with the one before.
    if (in_order() && step_ > 0) return false;
    result_.frames[begun_++].begin = now_;
    return true;
  }

  bool end_frame() {
    if (ended_ == begun_ || (in_order() && step_ > 0)) return false;
    for (std::size_t s = 0; s < count_; ++s) {
      if (!at(ended_, s).complete) return false;
    }
    result_.frames[ended_++].end = now_;
    return true;
  }

  bool in_order() const { return plan_.schedule.properties.in_order; }

  /// The host issues or starts one stage.
  bool take_up() { return in_order() ? take_step() : take_up_least(); }

  bool take_step() {
    if (begun_ == ended_ || steps_done_ == begun_) return false;
    const std::size_t f = begun_ - 1;
    const schedule_step& step = plan_.schedule.steps[step_];
    switch (step.what) {
      case schedule_step::action::issue:
        issue(f, step.stage);
        break;
      case schedule_step::action::run:
        if (!at(f, step.stage).issued) start_on_core(f, step.stage);
        if (!at(f, step.stage).returned) return false;
        break;
      case schedule_step::action::await:
        if (!at(f, step.stage).complete) return false;
        break;
    }
    if (++step_ == plan_.schedule.steps.size()) {
      step_ = 0;
      ++steps_done_;
    }
    return true;
  }

  /// The oldest frame's first stage in the order of the plan, or what the rank says; device stages
  /// before those of the CPU, and with a window copies before other device stages.
  bool take_up_least() {
    for (const bool cpu : {false, true}) {
      if (cpu && cores_ == 0) return false;
      using place = std::tuple<bool, std::pair<nanoseconds, nanoseconds>, std::size_t, std::size_t>;
      std::optional<place> least;
      for (std::size_t f = ended_; f < begun_; ++f) {
        for (std::size_t s = 0; s < count_; ++s) {
          if (on_cpu(s) != cpu || at(f, s).issued || !is_ready(f, s)) continue;
          if (!cpu && !has_room(s)) continue;
          const auto rank = run_.rank ? run_.rank(f, s, result_.frames[f].begin)
                                      : std::pair<nanoseconds, nanoseconds>();
          const place here{plan_.run.window > 0 && !plan_.stages[s].inserted, rank, f, s};
          least = std::min(least.value_or(here), here);
        }
      }
      if (!least) continue;
      const auto [last, rank, f, s] = *least;
      cpu ? start_on_core(f, s) : issue(f, s);
      return true;
    }
    return false;
  }

  /// Copies do not count in the window.
  bool has_room(std::size_t s) const {
    return plan_.run.window == 0 || plan_.stages[s].inserted || in_window_ < plan_.run.window;
  }

  bool is_ready(std::size_t f, std::size_t s) {
    if (f > 0 && depth() > 1 && !at(f - 1, s).returned) return false;
    for (const dependency& wait : plan_.stages[s].waits) {
      const state& before = at(f, wait.stage);
      if (!(wait.how == satisfied_by::completion ? before.complete : before.returned)) return false;
    }
    return true;
  }

  /// Whether a stage that is taken up now comes too late.
  bool is_late(std::size_t f) {
    const bool late = plan_.run.late == late_rule::skip_rest &&
                      now_ - result_.frames[f].begin > *plan_.run.deadline;
    if (late) result_.cut[f] = true;
    return late;
  }

  void issue(std::size_t f, std::size_t s) {
    at(f, s).cut = is_late(f);
    at(f, s).issued = at(f, s).returned = true;
    if (!plan_.stages[s].inserted) ++in_window_;
    queues_[plan_.stages[s].stream].push_back({f, s});
  }

  void start_on_core(std::size_t f, std::size_t s) {
    at(f, s).issued = true;
    if (is_late(f)) {
      at(f, s).returned = at(f, s).complete = true;
      return;
    }
    --cores_;
    result_.stages[f][s].begin = now_;
    running_.push_back({now_ + run_.times[f][s], f, s});
  }

  /// Streams are numbered from the most urgent one.
  bool start_on_device() {
    for (auto& [stream, queue] : queues_) {
      if (queue.empty()) continue;
      const auto [f, s] = queue.front();
      bool free = true;
      for (const dependency& wait : plan_.stages[s].waits) {
        free = free && (wait.how != satisfied_by::event_wait || at(f, wait.stage).complete);
      }
      if (!free || at(f, s).started) continue;
      if (at(f, s).cut) {
        queue.pop_front();
        at(f, s).complete = true;
        if (!plan_.stages[s].inserted) --in_window_;
        return true;
      }
      if (device_busy_) continue;
      at(f, s).started = true;
      device_busy_ = true;
      running_.push_back({now_ + run_.times[f][s], f, s});
      return true;
    }
    return false;
  }

  /// All that ends at the next moment.
  void end_next() {
    ASSERT_FALSE(running_.empty()) << "nothing is left to happen";
    now_ = std::ranges::min_element(running_, {}, &running::end)->end;
    std::erase_if(running_, [this](const running& each) {
      if (each.end == now_) end_stage(each.frame, each.stage);
      return each.end == now_;
    });
  }

  void end_stage(std::size_t f, std::size_t s) {
    result_.stages[f][s].end = now_;
    at(f, s).returned = at(f, s).complete = true;
    if (on_cpu(s)) {
      ++cores_;
    } else {
      queues_[plan_.stages[s].stream].pop_front();
      device_busy_ = false;
      if (!plan_.stages[s].inserted) --in_window_;
    }
  }

  const drawn_run& run_;
  const plan& plan_;
  std::size_t count_;
  of_frames<state> states_;
  std::size_t cores_;
  bool device_busy_ = false;
  std::int64_t in_window_ = 0;
  std::map<std::size_t, std::deque<std::pair<std::size_t, std::size_t>>> queues_;
  std::vector<running> running_;
  nanoseconds now_ = 0;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
  std::size_t step_ = 0;        ///< of the one host thread, in the frame begun last
  std::size_t steps_done_ = 0;  ///< frames whose steps are
  outcome result_;
};

}  // namespace graphline::testing_plans
