#include "framework/run/graph_cost.hpp"

#include <algorithm>
#include <vector>

namespace graphline {
namespace {

/// As many as a median of short times takes; more would only lengthen the preparation.
constexpr int most_repetitions = 9;

/// Hands work over again and again, each time to an idle device.
void repeat(device& d, wait_mode how, nanoseconds budget, const std::function<void()>& enqueue,
            std::vector<nanoseconds>& enqueued, std::vector<nanoseconds>* complete) {
  const nanoseconds until = now() + budget;
  for (int i = 0; i < most_repetitions; ++i) {
    const nanoseconds begin = now();
    enqueue();
    const nanoseconds handed_over = now();
    d.synchronize(how);
    const nanoseconds end = now();
    enqueued.push_back(handed_over - begin);
    if (complete != nullptr) complete->push_back(end - begin);
    if (end >= until) return;
  }
}

}  // namespace

std::unique_ptr<graph_exec> make_measured_graph(device& d, stream& origin,
                                                const std::function<void()>& enqueue,
                                                wait_mode how, nanoseconds budget,
                                                graph_record& into) {
  const bool first = into.executables++ == 0;
  if (first) repeat(d, how, budget, enqueue, into.eager, nullptr);

  const nanoseconds begin = now();
  const auto captured = d.capture(origin, enqueue);
  const nanoseconds listed = now();
  auto executable = captured->instantiate();
  const nanoseconds made = now();
  into.capture += listed - begin;
  into.instantiate += made - listed;

  const auto launch = [&] { origin.launch(*executable); };
  const nanoseconds launched = now();
  launch();
  d.synchronize(how);
  into.first_launch += now() - launched;
  if (!first) return executable;

  const auto nodes = captured->nodes();
  into.nodes = nodes.size();
  into.operations = static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const graph_node& n) { return n.type == "operation"; }));
  repeat(d, how, budget, launch, into.launch, &into.later_launch);
  return executable;
}

}  // namespace graphline
