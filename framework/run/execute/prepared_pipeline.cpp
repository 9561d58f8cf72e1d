#include "framework/run/execute/prepared_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/run/execute/frame_graph.hpp"
#include "framework/run/execute/tensor_data.hpp"
#include "framework/stage/shared_constants.hpp"

namespace graphline {
namespace {

// Repetitions of a measurement; fewer if they take long, together or alone.
constexpr std::size_t most_repetitions = 9;
constexpr std::size_t least_repetitions = 3;
constexpr nanoseconds long_together = 100'000'000;
constexpr nanoseconds long_alone = 250'000'000;

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
                                                graph_record& into,
                                                const std::function<void()>& eager,
                                                bool time_launches) {
  const bool first = into.executables++ == 0;
  const bool timed = first && time_launches;
  if (timed) repeat(d, how, eager ? eager : enqueue, into.eager, nullptr);

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
  if (timed) repeat(d, how, launch, into.launch, &into.later_launch);
  return executable;
}

memory_usage taken_since(const memory_usage& before, const memory_usage& after) {
  const auto beyond = [](std::size_t more, std::size_t less) {
    return more > less ? more - less : 0;
  };
  memory_usage taken;
  taken.device_bytes = beyond(after.device_bytes, before.device_bytes);
  taken.pinned_bytes = beyond(after.pinned_bytes, before.pinned_bytes);
  taken.device_peak_bytes = taken.device_bytes;
  taken.pinned_peak_bytes = taken.pinned_bytes;
  if (after.device_peak_bytes > before.device_peak_bytes) {
    taken.device_peak_bytes = beyond(after.device_peak_bytes, before.device_bytes);
  }
  if (after.pinned_peak_bytes > before.pinned_peak_bytes) {
    taken.pinned_peak_bytes = beyond(after.pinned_peak_bytes, before.pinned_bytes);
  }
  taken.allocations = after.allocations - before.allocations;
  return taken;
}

namespace {

/// A CPU stage whose calls stay on given cores.
class stage_on_cores final : public cpu_stage {
 public:
  stage_on_cores(std::unique_ptr<cpu_stage> stage, cpu_set cores)
      : stage_(std::move(stage)), cores_(std::move(cores)) {}

  void run(const cpu_call& call) override {
    const scoped_cpu_affinity kept(cores_);
    if (kept.refused()) {
      throw run_error(fmt::format("the system does not let it run on cores {}; change 'cores'",
                                  in_ranges(cores_)));
    }
    stage_->run(call);
  }

 private:
  std::unique_ptr<cpu_stage> stage_;
  cpu_set cores_;
};

void stop_if_raised(const stop_request* stop) {
  if (stop != nullptr && stop->raised()) {
    throw interrupted_error("interrupted while preparing; nothing was measured");
  }
}

}  // namespace

prepared_pipeline::prepared_pipeline(plan p, device_group on, const stop_request* stop,
                                     bool time_launches)
    : plan_(std::move(p)), devices_(std::move(on)) {
  if (devices_.size() != plan_.devices.size()) {
    throw input_error(fmt::format("pipeline '{}' is planned for {} devices, not {}", plan_.pipeline,
                                  plan_.devices.size(), devices_.size()));
  }
  // The planner refuses this unless the plan was made for another device.
  if (const auto why = why_only_selecting(plan_); why && !devices_.front().properties().selects) {
    throw input_error(*why);
  }
  connect_devices();
  for (const auto& s : plan_.streams) {
    streams_.push_back(devices_[s.device].make_stream(s.name, s.priority));
  }
  for (device* d : devices_.all()) {
    transfers_.push_back(d->make_stream("transfers", priority::normal));
  }
  make_inputs();
  make_stages(stop);

  std::vector<std::size_t> scratch(plan_.stages.size());
  parts_.resize(plan_.stages.size());
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    for (const auto& made : device_stages_[i]) {
      with_stage_context(plan_.stages[i], "listing its parts", [&] {
        scratch[i] = std::max(scratch[i], made->scratch_bytes());
        parts_[i].push_back(made->parts());
      });
    }
  }
  placement_ = place_buffers(plan_, scratch);
  slots_.resize(static_cast<std::size_t>(plan_.run.in_flight));
  if (plan_.schedule.properties.one_launch) {
    frames_ = devices_.front().make_stream("frames", priority::normal);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) make_slot(slots_[i], i);
  try {
    warm_up(stop);
    capture(stop, time_launches);
    prepare(plan_.run.timing);
  } catch (...) {
    wait_until_idle();
    throw;
  }
}

prepared_pipeline::~prepared_pipeline() {
  wait_until_idle();
}

/// Lets the devices exchange tensors and events where a stage does.
void prepared_pipeline::connect_devices() {
  const auto connect = [&](std::size_t a, std::size_t b) {
    if (a != b) devices_[a].exchange_with(devices_[b]);
  };
  for (const planned_stage& stage : plan_.stages) {
    if (stage.on == side::cpu) continue;
    for (const std::size_t t : stage.reads) {
      if (plan_.tensors[t].on == side::device) connect(stage.device, plan_.tensors[t].device);
    }
    for (const dependency& wait : stage.waits) {
      const std::size_t other = plan_.stages[wait.stage].device;
      if (wait.how == satisfied_by::event_wait) connect(stage.device, other);
    }
  }
}

/// Memory and events must outlive their use by the device. Ignores device failures, which have been
/// reported before.
void prepared_pipeline::wait_until_idle() noexcept {
  try {
    devices_.synchronize(wait_mode::block);
  } catch (const std::exception&) {
  }
}

tensor_view prepared_pipeline::tensor(std::size_t index, std::size_t in_slot) const {
  const auto& t = plan_.tensors[index];
  if (t.input) return {inputs_[index].data(), t.type};
  const auto& s = slots_[in_slot];
  const auto& block = t.on == side::device ? s.device_blocks[t.device] : s.pinned_block;
  return {block.at(placement_.tensor_offset[index]), t.type};
}

std::optional<std::int64_t> prepared_pipeline::rows_of(std::size_t tensor,
                                                       std::size_t in_slot) const {
  if (plan_.tensors[tensor].input) return std::nullopt;
  const std::size_t producer = plan_.tensors[tensor].producer;
  const std::int32_t rows = slots_[in_slot].stages[producer].chosen.rows;
  if (rows == skipped) return 0;
  if (plan_.stages[producer].capacity == 0) return std::nullopt;
  return std::min<std::int64_t>(rows, plan_.stages[producer].capacity);
}

std::span<const std::byte> prepared_pipeline::read(const tensor_view& from, std::size_t tensor,
                                                   memory& staging) {
  const std::size_t bytes = from.type.bytes();
  const planned_tensor& t = plan_.tensors[tensor];
  if (t.on == side::cpu || bytes == 0) return {static_cast<const std::byte*>(from.data), bytes};
  staging = devices_[t.device].allocate_pinned(bytes);
  transfers_[t.device]->copy(staging.data(), from.data, bytes);
  devices_[t.device].synchronize(wait_mode::block);
  return {static_cast<const std::byte*>(staging.data()), bytes};
}

void prepared_pipeline::make_inputs() {
  inputs_.resize(plan_.tensors.size());
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const auto& t = plan_.tensors[i];
    if (!t.input) continue;
    device& on = devices_[t.device];
    memory host = devices_.pinning().allocate_pinned(t.type.bytes());
    const tensor_view view{host.data(), t.type};
    if (t.file.empty()) {
      fill_input(view, t.fill, mix_seed(plan_.run.seed, seed_from(t.name)));
    } else {
      read_input(view, t.file);
    }
    if (t.on == side::cpu) {
      inputs_[i] = std::move(host);
      continue;
    }
    inputs_[i] = on.allocate(t.type.bytes());
    transfers_[t.device]->copy(inputs_[i].data(), host.data(), t.type.bytes());
    on.synchronize(wait_mode::block);
  }
}

void prepared_pipeline::make_stages(const stop_request* stop) {
  device_stages_.resize(plan_.stages.size());
  cpu_stages_.resize(plan_.stages.size());
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    stop_if_raised(stop);
    const auto& stage = plan_.stages[i];
    with_stage_context(stage, "preparing", [&] {
      if (stage.on == side::cpu) {
        cpu_stages_[i] = stage.prepared->make_cpu(stage.config);
        if (stage.cores.empty()) return;
        cpu_stages_[i] = std::make_unique<stage_on_cores>(std::move(cpu_stages_[i]), stage.cores);
        return;
      }
      device& on = of(i);
      const std::string& backend = on.properties().backend;
      const auto& factories = stage.prepared->make_device;
      auto factory = factories.find(backend);
      if (factory == factories.end()) factory = factories.find("");
      if (factory == factories.end()) {
        throw run_error(
            fmt::format("not available on the '{}' device; the pipeline was planned "
                        "for another one",
                        backend));
      }
      if (stage.buckets.empty()) device_stages_[i].push_back(factory->second(on, stage.config));
      const auto constants =
          stage.buckets.size() > 1 ? std::make_shared<shared_constants>(on) : nullptr;
      // The largest first: its layouts of constants are those that the others share.
      device_stages_[i].resize(std::max<std::size_t>(1, stage.buckets.size()));
      for (std::size_t b = stage.buckets.size(); b-- > 0;) {
        const planned_bucket& bucket = stage.buckets[b];
        stage_config config = config_for_rows(stage, bucket.rows);
        config.constants = constants;
        device_stages_[i][b] = bucket.prepared->make_device.at(factory->first)(on, config);
      }
    });
  }
}

void prepared_pipeline::make_slot(slot& s, std::size_t index) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::size_t bytes = placement_.device_blocks[d];
    s.device_blocks.push_back(bytes > 0 ? devices_[d].allocate(bytes) : memory());
  }
  if (placement_.pinned_bytes > 0) {
    s.pinned_block = devices_.pinning().allocate_pinned(placement_.pinned_bytes);
  }
  s.stages.resize(plan_.stages.size());
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    const auto& stage = plan_.stages[i];
    auto& bound = s.stages[i];
    bound.index = i;
    bound.name = stage.name.c_str();
    bound.label = label_of(stage);
    for (const auto t : stage.reads) {
      const tensor_view view = tensor(t, index);
      bound.inputs.push_back({view.data, view.type});
    }
    for (const auto t : stage.writes) bound.outputs.push_back(tensor(t, index));
    const bool in_stream = stage.on == side::device || plan_.schedule.properties.one_launch;
    if (in_stream) bound.on = streams_[stage.stream].get();
    if (stage.signals) {
      bound.complete = of(i).make_event(stage.name + " complete",
                                        stage.host_waits ? plan_.run.wait : wait_mode::spin);
    }
    if (stage.on == side::cpu) {
      bound.cpu = cpu_stages_[i].get();
      bound.awaits = dynamic_cast<awaiting_stage*>(bound.cpu);
      bound.arguments = {0, bound.inputs, bound.outputs};
      for (const auto t : stage.writes) {
        if (plan_.run.guard) bound.guarded.push_back(plan_.tensors[t].name);
      }
      continue;
    }
    bind_variants(s, i, index);
    bound.placed_on = &of(i);
    bound.device_index = stage.device;
    bound.begin = bound.placed_on->make_timed_event(stage.name + " begin");
    bound.end = bound.placed_on->make_timed_event(stage.name + " end");
  }
  bind_waits(s);
  if (frames_ != nullptr && std::ranges::any_of(plan_.stages, &planned_stage::decided_per_frame)) {
    s.selectors = devices_.front().allocate_pinned(plan_.stages.size() * sizeof(std::uint32_t));
  }
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    if (!plan_.stages[i].decided_per_frame()) continue;
    bind_decision(s, i, index);
    if (frames_ != nullptr) {
      s.stages[i].selector = static_cast<std::uint32_t*>(s.selectors.data()) + i;
    }
  }
  if (frames_ != nullptr) {
    s.frame = std::make_unique<frame_graph>(devices_.front(), plan_, s, streams_, *frames_);
  }
}

/// Binds a device stage for each bucket and, if it has an alternative, again to that.
void prepared_pipeline::bind_variants(slot& s, std::size_t index, std::size_t in_slot) {
  const planned_stage& stage = plan_.stages[index];
  bound_stage& bound = s.stages[index];
  const auto scratch = placement_.scratch_offset[index];
  void* const scratch_data =
      scratch == placement::none ? nullptr : s.device_blocks[stage.device].at(scratch);
  for (const bool second : {false, true}) {
    if (second && stage.otherwise.empty()) break;
    for (std::size_t b = 0; b < device_stages_[index].size(); ++b) {
      stage_tensors tensors{{}, bound.outputs, scratch_data};
      for (const auto t : stage.reads) tensors.inputs.push_back(tensor(t, in_slot));
      for (const auto& other : stage.otherwise) {
        if (second) tensors.inputs[other.input] = tensor(other.tensor, in_slot);
      }
      if (!stage.buckets.empty()) {
        const std::int64_t rows = stage.buckets[b].rows;
        for (const auto i : stage.row_reads) tensors.inputs[i].type.shape.set_rows(rows);
        for (const auto i : stage.row_writes) tensors.outputs[i].type.shape.set_rows(rows);
      }
      auto& of = bound.variants.emplace_back();
      of.bucket = b;
      of.work = with_stage_context(stage, "binding its tensors",
                                   [&] { return device_stages_[index][b]->bind(tensors); });
      of.check = dynamic_cast<value_check*>(of.work.get());
    }
  }
  if (bound.variants.front().check != nullptr) s.checked.push_back(index);
}

void prepared_pipeline::bind_decision(slot& s, std::size_t index, std::size_t in_slot) {
  const planned_stage& stage = plan_.stages[index];
  auto by = std::make_unique<stage_decision>();
  const auto producer = [&](std::size_t t) -> const bound_stage* {
    if (plan_.tensors[t].input) return nullptr;
    const std::size_t of = plan_.tensors[t].producer;
    return plan_.stages[of].conditional ? &s.stages[of] : nullptr;
  };
  const auto need = [&](std::size_t t) {
    if (const bound_stage* of = producer(t)) by->needed.push_back(of);
  };
  for (std::size_t i = 0; i < stage.reads.size(); ++i) {
    const auto other = std::ranges::find(stage.otherwise, i, &alternative_read::input);
    if (other == stage.otherwise.end()) {
      need(stage.reads[i]);
      continue;
    }
    const tensor_view second = tensor(other->tensor, in_slot);
    by->alternatives.push_back({i,
                                producer(stage.reads[i]),
                                producer(other->tensor),
                                s.stages[index].inputs[i],
                                {second.data, second.type}});
  }
  if (stage.when) {
    need(*stage.when);
    by->when = tensor(*stage.when, in_slot).as<std::int64_t>();
  }
  if (stage.rows) {
    need(*stage.rows);
    by->rows = tensor(*stage.rows, in_slot).as<std::int64_t>();
    by->rows_name = plan_.tensors[*stage.rows].name;
    by->capacity = stage.capacity;
    for (const planned_bucket& bucket : stage.buckets) by->buckets.push_back(bucket.rows);
    if (stage.on == side::cpu) {
      by->row_inputs = stage.row_reads;
      by->row_outputs = stage.row_writes;
    }
  }
  s.stages[index].decision = std::move(by);
}

void prepared_pipeline::bind_waits(slot& s) {
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    for (const auto& wait : plan_.stages[i].waits) {
      const bound_stage& before = s.stages[wait.stage];
      auto& stage = s.stages[i];
      if (wait.how == satisfied_by::event_wait) stage.stream_waits.push_back(before.complete.get());
    }
  }
}

void prepared_pipeline::warm_up(const stop_request* stop) {
  nanoseconds longest = 0;
  for (const device* d : devices_.all()) longest = std::max(longest, d->properties().warm_up);
  const nanoseconds warm = now() + (plan_.run.warmup > 0 ? longest : 0);
  bool worked = false;
  do {
    for (auto& s : slots_) {
      for (auto& bound : s.stages) {
        if (bound.cpu != nullptr) continue;
        stop_if_raised(stop);
        // Outside a capture, because libraries load code and select algorithms at first use.
        with_stage_context(plan_.stages[bound.index], "first run", [&] {
          for (const bound_variant& of : bound.variants) {
            of.work->enqueue(*bound.on);
            bound.placed_on->synchronize(wait_mode::block);
          }
        });
        worked = true;
      }
    }
  } while (worked && now() < warm);
}

void prepared_pipeline::capture(const stop_request* stop, bool time_launches) {
  const wait_mode how = plan_.run.wait;
  if (plan_.schedule.properties.one_launch) {
    graphs_.emplace_back().name = "frame";
    const stage_scope scope({nullptr, stage_point::getting_ready});
    for (auto& s : slots_) {
      stop_if_raised(stop);
      const auto enqueue = [&] { s.frame->enqueue(timing_method::none); };
      const auto eager = [&] { s.frame->enqueue_eagerly(); };
      s.frame->keep(timing_method::none,
                    make_measured_graph(devices_.front(), *frames_, enqueue, how, graphs_.back(),
                                        eager, time_launches));
    }
    return;
  }
  if (!plan_.schedule.captures) return;
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    const auto& stage = plan_.stages[i];
    if (stage.on == side::cpu || copies_from_peer(plan_, stage)) continue;
    const std::size_t first = graphs_.size();
    graph_record record;
    record.name = stage.name;
    graphs_.resize(first + device_stages_[i].size(), record);
    for (std::size_t b = 0; b < stage.buckets.size(); ++b) {
      graphs_[first + b].rows = stage.buckets[b].rows;
    }
    for (auto& s : slots_) {
      stream& on = *s.stages[i].on;
      for (bound_variant& of : s.stages[i].variants) {
        stop_if_raised(stop);
        of.executable = with_stage_context(stage, "capturing its graph", [&] {
          return make_measured_graph(
              *s.stages[i].placed_on, on, [&] { of.work->enqueue(on); }, how,
              graphs_[first + of.bucket], {}, time_launches);
        });
      }
    }
  }
}

void prepared_pipeline::prepare(timing_method method) {
  if (method == timing_method::layers) {
    for (auto& s : slots_) {
      for (auto& bound : s.stages) {
        for (bound_variant& of : bound.variants) {
          if (parts_[bound.index][of.bucket].empty() || of.parts != nullptr) continue;
          // The bodies of a switch have no stamps.
          if (frames_ != nullptr && bound.decision != nullptr) continue;
          with_stage_context(plan_.stages[bound.index], "capturing its parts",
                             [&] { capture_in_parts(bound, of); });
        }
      }
    }
  }
  if (plan_.schedule.properties.one_launch && traits_of(method).by_events) {
    for (auto& s : slots_) s.frame->instrument(method);
  }
  // Preparation ran the stages on undefined values.
  for (auto& s : slots_) {
    for (const std::size_t i : s.checked) {
      s.stages[i].problem.clear();
      for (const bound_variant& of : s.stages[i].variants) of.check->take_problem();
    }
  }
}

void prepared_pipeline::capture_in_parts(bound_stage& stage, bound_variant& of) {
  const auto& name = plan_.stages[stage.index].name;
  auto parts =
      std::make_unique<part_stamps>(*stage.placed_on, name, parts_[stage.index][of.bucket].size());
  const auto enqueue = [&] { parts->enqueue(*of.work, *stage.on); };
  enqueue();  // eager warm-up before the capture
  stage.placed_on->synchronize(wait_mode::block);
  if (plan_.schedule.captures) {
    of.executable_in_parts = stage.placed_on->capture(*stage.on, enqueue)->instantiate();
  }
  of.parts = std::move(parts);
}

}  // namespace graphline
