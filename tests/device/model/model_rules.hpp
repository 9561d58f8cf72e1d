#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"

namespace graphline::model_rules {

enum class kind { operation, copy, call, record, wait, launch };

/// Work for a stream or a graph.
struct item {
  kind what;
  nanoseconds time = 0;    // of an operation, or the bytes of a copy: a nanosecond each
  std::size_t number = 0;  // of a recording; of the recording waited for; of the graph
};

struct captured_form {
  std::vector<item> nodes;
  std::vector<std::size_t> branches;  // of each node
  /// Node index and branch: before this node, its branch waits for that branch.
  std::vector<std::pair<std::size_t, std::size_t>> joins;
  std::vector<std::vector<std::size_t>> after = {};  // as the device lists them
};

struct given {
  nanoseconds at;
  std::size_t on;  // the stream
  item what;
};

struct program {
  int at_once;
  bool copies_apart;
  nanoseconds copy_latency, operation_overhead, graph_overhead, call_time;
  std::vector<priority> streams;
  std::vector<captured_form> graphs;
  std::vector<given> all;
  std::size_t recordings = 0;
};

/// Start times of operations in order, and times at which recordings pass.
struct times {
  std::vector<nanoseconds> starts;
  std::vector<nanoseconds> recordings;

  bool operator==(const times&) const = default;
};

/// The rules of model_device.hpp, simulated by linear searches.
class simulation {
 public:
  explicit simulation(program& p) : p_(p), streams_(p.streams.size()) {
    found_.recordings.resize(p.recordings);
    free_ = {1, 1, p.at_once};
  }

  times run() {
    for (const given& g : p_.all) {
      go_on(g.at);
      now_ = g.at;
      streams_[g.on].items.push_back(g.what);
      if (streams_[g.on].items.size() == 1) {
        later(0, [this, on = g.on] { resume(on); });
      }
    }
    go_on(1'000'000'000'000);
    return found_;
  }

  bool is_finished() const {
    return std::ranges::all_of(streams_, [](const state& s) { return s.items.empty(); });
  }

 private:
  struct job {
    std::size_t on;
    item what;
    std::size_t node;  // none: outside a graph
    std::size_t engine;
    std::size_t order;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct state {
    std::deque<item> items;
    std::vector<std::size_t> waits_for;  // by node of the graph under way
    std::size_t left = 0;
  };

  struct due {
    nanoseconds when;
    std::function<void()> what;
  };

  void later(nanoseconds after, std::function<void()> what) {
    due_.push_back({now_ + after, std::move(what)});
  }

  void go_on(nanoseconds until) {
    for (;;) {
      const auto next = std::ranges::min_element(due_, {}, &due::when);  // first of equal elements
      if ((next == due_.end() || next->when > now_) && start()) continue;
      if (next == due_.end() || next->when > until) return;
      now_ = next->when;
      const auto what = std::move(next->what);
      due_.erase(next);
      what();
    }
  }

  /// Starts ready work at the end of a time. Returns whether anything started.
  bool start() {
    bool any = false;
    for (std::size_t engine = 0; engine < free_.size(); ++engine) {
      while (free_[engine] > 0) {
        auto best = ready_.end();
        for (auto j = ready_.begin(); j != ready_.end(); ++j) {
          if (j->engine == engine && (best == ready_.end() || urgency(*j) < urgency(*best))) {
            best = j;
          }
        }
        if (best == ready_.end()) break;
        const job chosen = *best;
        ready_.erase(best);
        --free_[engine];
        any = true;
        const nanoseconds time = time_of(chosen.what);
        if (chosen.what.what == kind::operation) found_.starts.push_back(now_);
        later(time, [this, chosen] { finish(chosen); });
        if (time == 0) return true;
      }
    }
    return any;
  }

  std::tuple<priority, std::size_t> urgency(const job& j) const {
    return {p_.streams[j.on], j.order};
  }

  nanoseconds time_of(const item& i) const {
    if (i.what == kind::copy) return p_.copy_latency + i.time;
    return i.what == kind::call ? p_.call_time : i.time;
  }

  void make_ready(std::size_t on, const item& what, std::size_t node) {
    const std::size_t engine = what.what == kind::call                      ? 0
                               : what.what == kind::copy && p_.copies_apart ? 1
                                                                            : 2;
    const auto enter = [this, on, what, node, engine] {
      ready_.push_back({on, what, node, engine, order_++});
    };
    if (engine == 0 || p_.operation_overhead == 0) return enter();
    later(p_.operation_overhead, enter);
  }

  void finish(const job& j) {
    ++free_[j.engine];
    state& s = streams_[j.on];
    if (j.node != none) {
      const captured_form& g = p_.graphs[s.items.front().number];
      for (std::size_t i = 0; i < g.nodes.size(); ++i) {
        if (std::ranges::count(g.after[i], j.node) > 0 && --s.waits_for[i] == 0) {
          make_ready(j.on, g.nodes[i], i);
        }
      }
      if (--s.left > 0) return;
    }
    s.items.pop_front();
    resume(j.on);
  }

  /// Returns whether the graph is empty.
  bool begin_graph(std::size_t on) {
    state& s = streams_[on];
    const captured_form& g = p_.graphs[s.items.front().number];
    s.left = g.nodes.size();
    s.waits_for.clear();
    for (const auto& after : g.after) s.waits_for.push_back(after.size());
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      if (g.after[i].empty()) make_ready(on, g.nodes[i], i);
    }
    return s.left == 0;
  }

  void resume(std::size_t first) {
    std::deque<std::size_t> resumed = {first};
    for (;;) {
      for (; !resumed.empty(); resumed.pop_front()) {
        while (!streams_[resumed.front()].items.empty() && passes(resumed.front())) {
          streams_[resumed.front()].items.pop_front();
        }
      }
      for (auto w = waiting_.begin(); w != waiting_.end();) {
        if (!passed(streams_[*w].items.front().number)) {
          ++w;
          continue;
        }
        resumed.push_back(*w);
        w = waiting_.erase(w);
      }
      if (resumed.empty()) return;
    }
  }

  bool passed(std::size_t recording) const { return std::ranges::count(passed_, recording) > 0; }

  bool passes(std::size_t on) {
    const item& i = streams_[on].items.front();
    switch (i.what) {
      case kind::record:
        found_.recordings[i.number] = now_;
        passed_.push_back(i.number);
        return true;
      case kind::wait:
        if (passed(i.number)) return true;
        waiting_.push_back(on);
        return false;
      case kind::launch:
        if (p_.graph_overhead == 0) return begin_graph(on);
        later(p_.graph_overhead, [this, on] {
          if (!begin_graph(on)) return;
          streams_[on].items.pop_front();
          resume(on);
        });
        return false;
      default:
        make_ready(on, i, none);
        return false;
    }
  }

  program& p_;
  times found_;
  nanoseconds now_ = 0;
  std::vector<state> streams_;
  std::vector<due> due_;
  std::vector<job> ready_;
  std::array<int, 3> free_{};  // of calls, copies and operations
  std::size_t order_ = 0;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> passed_;
};

}  // namespace graphline::model_rules
