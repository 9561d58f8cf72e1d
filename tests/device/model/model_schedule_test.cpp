// Random programs on the `model` device, against a simulation of the rules in model_device.hpp.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "framework/base/virtual_clock.hpp"
#include "framework/device/model/model_device.hpp"
#include "tests/device/model/model_fixture.hpp"
#include "tests/device/model/model_rules.hpp"

namespace graphline::model_rules {
namespace {

/// The same on the device. Notes in `p.graphs` which nodes depend on which.
class device_run {
 public:
  explicit device_run(program& p) : p_(p), nothing_("nothing", p.call_time, [] {}) {
    dev_ = open_model_device(clock_, {.operations_at_once = p.at_once,
                                      .copies_apart = p.copies_apart,
                                      .copy_latency = p.copy_latency,
                                      .copy_bandwidth = 1e9,
                                      .operation_overhead = p.operation_overhead,
                                      .graph_overhead = p.graph_overhead});
    block_ = dev_->allocate(2 * most_bytes);
    for (const priority level : p.streams) streams_.push_back(dev_->make_stream("s", level));
    for (std::size_t i = 0; i < p.recordings; ++i) {
      recordings_.push_back(dev_->make_timed_event("e"));
    }
  }

  static constexpr std::size_t most_bytes = 1'000;

  times run() {
    // An executable of its own for each launch, so that none waits for another.
    std::vector<std::unique_ptr<graph_exec>> execs;
    std::vector<std::unique_ptr<graph>> graphs;
    for (captured_form& g : p_.graphs) graphs.push_back(capture(g));
    for (const given& g : p_.all) {
      while (clock_.next() && *clock_.next() <= g.at) clock_.step();
      clock_.advance_to(g.at);
      stream& s = *streams_[g.on];
      if (g.what.what == kind::record) s.record(*recordings_[g.what.number]);
      if (g.what.what == kind::wait) s.wait(*recordings_[g.what.number]);
      if (g.what.what == kind::launch) {
        execs.push_back(graphs[g.what.number]->instantiate());
        s.launch(*execs.back());
      }
      enqueue(s, g.what);
    }
    dev_->synchronize(wait_mode::block);
    for (const auto& e : recordings_) found_.recordings.push_back(e->on_host_clock().at);
    return found_;
  }

 private:
  void enqueue(stream& s, const item& i) {
    if (i.what == kind::operation) {
      model_operate(s, "operation", [this, time = i.time] {
        found_.starts.push_back(clock_.now());
        return time;
      });
    }
    if (i.what == kind::copy) s.copy(block_.at(most_bytes), block_.data(), std::size_t(i.time));
    if (i.what == kind::call) s.call(nothing_);
  }

  std::unique_ptr<graph> capture(captured_form& form) {
    std::vector<std::unique_ptr<stream>> branches;
    for (int i = 0; i < 4; ++i) branches.push_back(dev_->make_stream("branch", priority::normal));
    const auto follow = [this](stream& from, stream& to) {
      marks_.push_back(dev_->make_event("mark"));
      from.record(*marks_.back());
      to.wait(*marks_.back());
    };
    auto made = dev_->capture(*branches[0], [&] {
      for (std::size_t b = 1; b < branches.size(); ++b) follow(*branches[0], *branches[b]);
      for (std::size_t i = 0; i < form.nodes.size(); ++i) {
        for (const auto& [node, branch] : form.joins) {
          if (node == i && branch != form.branches[i]) {
            follow(*branches[branch], *branches[form.branches[i]]);
          }
        }
        enqueue(*branches[form.branches[i]], form.nodes[i]);
      }
      for (std::size_t b = 1; b < branches.size(); ++b) follow(*branches[b], *branches[0]);
    });
    for (const graph_node& n : made->nodes()) form.after.push_back(n.after);
    return made;
  }

  program& p_;
  times found_;
  timed_function nothing_;
  virtual_clock clock_;
  std::unique_ptr<device> dev_;
  memory block_;
  std::vector<std::unique_ptr<event>> marks_;
  std::vector<std::unique_ptr<timed_event>> recordings_;
  std::vector<std::unique_ptr<stream>> streams_;
};

class random_program {
 public:
  /// Short times, among them none, make many things happen at once.
  random_program(unsigned seed, nanoseconds longest) : random_(seed), longest_(longest) {}

  program make() {
    program p{.at_once = 1 + below(4),
              .copies_apart = below(2) == 0,
              .copy_latency = maybe_time(),
              .operation_overhead = maybe_time(),
              .graph_overhead = maybe_time(),
              .call_time = maybe_time(),
              .streams = {},
              .graphs = {},
              .all = {}};
    for (int i = 1 + below(6); i > 0; --i) p.streams.push_back(static_cast<priority>(below(3)));
    for (int i = below(3); i > 0; --i) p.graphs.push_back(make_graph());
    nanoseconds at = 0;
    for (int i = below(60); i > 0; --i) {
      if (below(4) == 0) at += time();
      p.all.push_back({at, std::size_t(below(int(p.streams.size()))), make_item(p)});
    }
    return p;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  nanoseconds time() { return below(static_cast<int>(longest_) + 1); }
  nanoseconds maybe_time() { return below(2) == 0 ? 0 : time(); }

  item make_work() {
    const int which = below(8);
    if (which == 0) return {kind::call};
    if (which == 1) return {kind::copy, 1 + below(int(device_run::most_bytes))};
    return {kind::operation, time()};
  }

  item make_item(program& p) {
    const int which = below(6);
    if (which == 0) return {kind::record, 0, p.recordings++};
    if (which == 1 && p.recordings > 0) {
      return {kind::wait, 0, std::size_t(below(int(p.recordings)))};
    }
    if (which == 2 && !p.graphs.empty()) {
      return {kind::launch, 0, std::size_t(below(int(p.graphs.size())))};
    }
    return make_work();
  }

  captured_form make_graph() {
    captured_form g;
    for (int i = below(12); i > 0; --i) {
      if (below(3) == 0) g.joins.emplace_back(g.nodes.size(), below(4));
      g.nodes.push_back(make_work());
      g.branches.push_back(std::size_t(below(4)));
    }
    return g;
  }

  std::mt19937 random_;
  const nanoseconds longest_;
};

TEST(model_schedule, of_random_programs_is_that_of_the_rules) {
  std::size_t operations = 0;
  for (unsigned seed = 0; seed < 1'000; ++seed) {
    program p = random_program(seed, seed % 2 == 0 ? 3 : 1'000'000).make();
    const times found = device_run(p).run();
    simulation rules(p);
    const times expected = rules.run();
    ASSERT_TRUE(rules.is_finished()) << "seed " << seed;
    ASSERT_EQ(found.starts, expected.starts) << "seed " << seed;
    ASSERT_EQ(found.recordings, expected.recordings) << "seed " << seed;
    operations += found.starts.size();
  }
  EXPECT_GT(operations, 20'000U);
}

}  // namespace
}  // namespace graphline::model_rules
