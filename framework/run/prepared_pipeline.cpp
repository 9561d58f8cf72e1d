#include "framework/run/prepared_pipeline.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/run/input_fill.hpp"

namespace graphline {
namespace {

void stop_if_raised(const stop_request* stop) {
  if (stop != nullptr && stop->raised()) {
    throw interrupted_error("interrupted while preparing; nothing was measured");
  }
}

/// Runs `work` and puts the stage's name in front of what it throws.
template <class Work>
auto naming_stage(const planned_stage& stage, const char* what, Work&& work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.status(), fmt::format("stage '{}' ({}): {}: {}", stage.name, stage.kind->name,
                                        what, e.what()));
  } catch (const std::exception& e) {
    throw run_error(
        fmt::format("stage '{}' ({}): {}: {}", stage.name, stage.kind->name, what, e.what()));
  }
}

}  // namespace

prepared_pipeline::prepared_pipeline(plan p, graphline::device& d, const stop_request* stop)
    : plan_(std::move(p)), device_(d) {
  for (const auto& s : plan_.streams) streams_.push_back(device_.make_stream(s.name, s.priority));
  transfers_ = device_.make_stream("transfers", priority::normal);
  make_inputs();
  make_stages(stop);

  std::vector<std::size_t> scratch(plan_.stages.size());
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    if (device_stages_[i] != nullptr) scratch[i] = device_stages_[i]->scratch_bytes();
  }
  placement_ = place_buffers(plan_, scratch);
  slots_.resize(static_cast<std::size_t>(plan_.run.in_flight));
  for (std::size_t i = 0; i < slots_.size(); ++i) make_slot(slots_[i], i);
  warm_up_and_capture(stop);
}

prepared_pipeline::~prepared_pipeline() {
  // Memory and events go only when nothing uses them any more. A failed device has said so already.
  try {
    device_.synchronize(wait_mode::block);
  } catch (const std::exception&) {
  }
}

tensor_view prepared_pipeline::tensor(std::size_t index, std::size_t in_slot) const {
  const auto& t = plan_.tensors[index];
  if (t.input) return {inputs_[index].data(), t.type};
  const auto& s = slots_[in_slot];
  const auto& block = t.on == side::device ? s.device_block : s.pinned_block;
  return {block.at(placement_.tensor_offset[index]), t.type};
}

std::vector<std::byte> prepared_pipeline::read(const tensor_view& from, side on) {
  std::vector<std::byte> bytes(from.type.bytes());
  if (bytes.empty()) return bytes;
  if (on == side::cpu) {
    std::memcpy(bytes.data(), from.data, bytes.size());
    return bytes;
  }
  const memory staging = device_.allocate_pinned(bytes.size());
  transfers_->copy(staging.data(), from.data, bytes.size());
  device_.synchronize(wait_mode::block);
  std::memcpy(bytes.data(), staging.data(), bytes.size());
  return bytes;
}

void prepared_pipeline::make_inputs() {
  inputs_.resize(plan_.tensors.size());
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const auto& t = plan_.tensors[i];
    if (!t.input) continue;
    memory host = device_.allocate_pinned(t.type.bytes());
    fill_input({host.data(), t.type}, t.fill, mix_seed(plan_.run.seed, seed_from(t.name)));
    if (t.on == side::cpu) {
      inputs_[i] = std::move(host);
      continue;
    }
    inputs_[i] = device_.allocate(t.type.bytes());
    transfers_->copy(inputs_[i].data(), host.data(), t.type.bytes());
    device_.synchronize(wait_mode::block);
  }
}

void prepared_pipeline::make_stages(const stop_request* stop) {
  device_stages_.resize(plan_.stages.size());
  cpu_stages_.resize(plan_.stages.size());
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    stop_if_raised(stop);
    const auto& stage = plan_.stages[i];
    naming_stage(stage, "preparing", [&] {
      if (stage.on == side::cpu) {
        cpu_stages_[i] = stage.kind->make_cpu(stage.config);
        return;
      }
      auto factory = stage.kind->make_device.find(device_.properties().backend);
      if (factory == stage.kind->make_device.end()) factory = stage.kind->make_device.find("");
      if (factory == stage.kind->make_device.end()) {
        throw run_error(
            fmt::format("not available on the '{}' device; the pipeline was planned "
                        "for another one",
                        device_.properties().backend));
      }
      device_stages_[i] = factory->second(device_, stage.config);
    });
  }
}

void prepared_pipeline::make_slot(slot& s, std::size_t index) {
  if (placement_.device_bytes > 0) s.device_block = device_.allocate(placement_.device_bytes);
  if (placement_.pinned_bytes > 0) {
    s.pinned_block = device_.allocate_pinned(placement_.pinned_bytes);
  }
  s.stages.resize(plan_.stages.size());
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    const auto& stage = plan_.stages[i];
    auto& bound = s.stages[i];
    bound.index = i;
    for (const auto t : stage.reads) bound.inputs.push_back(tensor(t, index));
    for (const auto t : stage.writes) bound.outputs.push_back(tensor(t, index));
    if (stage.on == side::cpu) {
      bound.cpu = cpu_stages_[i].get();
      continue;
    }
    bound.on = streams_[stage.stream].get();
    const auto scratch = placement_.scratch_offset[i];
    void* const scratch_data = scratch == placement::none ? nullptr : s.device_block.at(scratch);
    bound.work = naming_stage(stage, "binding its tensors", [&] {
      return device_stages_[i]->bind({bound.inputs, bound.outputs, scratch_data});
    });
    bound.begin = device_.make_timed_event(stage.name + " begin");
    bound.end = device_.make_timed_event(stage.name + " end");
    // `serial` waits for every device stage, whoever follows it.
    if (stage.signals || plan_.run.strategy == strategy::serial) {
      bound.complete = device_.make_event(stage.name + " complete");
    }
  }
  bind_waits(s);
}

void prepared_pipeline::bind_waits(slot& s) {
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    for (const auto& wait : plan_.stages[i].waits) {
      const event* complete = s.stages[wait.stage].complete.get();
      if (wait.how == satisfied_by::event_wait) s.stages[i].stream_waits.push_back(complete);
      if (wait.how == satisfied_by::completion) s.stages[i].completions.push_back(complete);
    }
  }
}

void prepared_pipeline::warm_up_and_capture(const stop_request* stop) {
  for (auto& s : slots_) {
    for (auto& bound : s.stages) {
      if (bound.cpu != nullptr) continue;
      stop_if_raised(stop);
      const auto& stage = plan_.stages[bound.index];
      // Libraries load code and choose at first use: that must happen outside a capture.
      naming_stage(stage, "first run", [&] {
        bound.work->enqueue(*bound.on);
        device_.synchronize(wait_mode::block);
      });
      if (plan_.run.graphs == graph_mode::off) continue;
      bound.executable = naming_stage(stage, "capturing its graph", [&] {
        return device_.capture(*bound.on, [&] { bound.work->enqueue(*bound.on); })->instantiate();
      });
    }
  }
}

}  // namespace graphline
