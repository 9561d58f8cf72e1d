#include "framework/run/execute/graph_cost.hpp"

#include <algorithm>
#include <vector>

namespace graphline {
namespace {

// As many as a median of short times takes, unless they take so long that they would noticeably
// lengthen the preparation: then as few as a median may be taken of, or a single one.
constexpr std::size_t most_repetitions = 9;
constexpr std::size_t least_repetitions = 3;
constexpr nanoseconds long_together = 100'000'000;
constexpr nanoseconds long_alone = 250'000'000;

/// Hands work over again and again, each time to an idle device.
void repeat(device& d, wait_mode how, const std::function<void()>& enqueue,
            std::vector<nanoseconds>& enqueued, std::vector<nanoseconds>* complete) {
  const nanoseconds start = now();
  while (enqueued.size() < most_repetitions) {
    const nanoseconds begin = now();
    enqueue();
    const nanoseconds handed_over = now();
    d.synchronize(how);
    const nanoseconds end = now();
    enqueued.push_back(handed_over - begin);
    if (complete != nullptr) complete->push_back(end - begin);
    if (end - begin >= long_alone) return;
    if (end - start >= long_together && enqueued.size() >= least_repetitions) return;
  }
}

}  // namespace

std::unique_ptr<graph_exec> make_measured_graph(device& d, stream& origin,
                                                const std::function<void()>& enqueue, wait_mode how,
                                                graph_record& into) {
  const bool first = into.executables++ == 0;
  if (first) repeat(d, how, enqueue, into.eager, nullptr);

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

  into.nodes = captured->nodes();
  into.operations = static_cast<std::size_t>(
      std::count_if(into.nodes.begin(), into.nodes.end(),
                    [](const graph_node& n) { return n.type == "operation"; }));
  repeat(d, how, launch, into.launch, &into.later_launch);
  return executable;
}

}  // namespace graphline
