#include "framework/run/execute/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "framework/base/crash_report.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "framework/base/random.hpp"
#include "framework/base/realtime.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/environment.hpp"
#include "framework/run/execute/executor.hpp"
#include "framework/run/execute/frame_feed.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/machine_watch.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/tensor_data.hpp"

namespace graphline {
namespace {

constexpr int traced_runs = 10;

/// Operations of one run of a stage.
class traced_run {
 public:
  /// Runs the stage and synchronizes after each part, so that the operations seen since the
  /// previous part belong to this part. Does not use the stage's graph, because CUPTI does not
  /// reliably trace graphs that were made before the trace began.
  traced_run(bound_stage& stage, const std::vector<stage_part>& parts, device& d, wait_mode how,
             operation_trace& trace) {
    const auto take = [&](const std::string& part) {
      d.synchronize(how);
      for (auto& seen : trace.take()) operations_.push_back({std::move(seen), part});
    };
    const bound_variant& of = stage.variants[stage.whole()];
    enqueue_in_parts(*of.work, *stage.on, parts.size(),
                     [&](std::size_t part) { take(parts[part].name); });
    take("");
  }

  void add_to(stage_record& record) const {
    ++record.traced_runs;
    std::map<std::size_t, nanoseconds> together;
    for (const traced_operation& each : operations_) {
      const operation_time& seen = each.seen;
      const auto known = std::ranges::find_if(record.operations, [&](const auto& o) {
        return o.name == seen.name && o.part == each.part;
      });
      const auto index = static_cast<std::size_t>(known - record.operations.begin());
      if (known == record.operations.end()) {
        record.operations.push_back({seen.name, each.part, {}, {}});
      }
      record.operations[index].calls.push_back(seen.duration);
      together[index] += seen.duration;
    }
    for (const auto& [index, time] : together) record.operations[index].together.push_back(time);
  }

 private:
  struct traced_operation {
    operation_time seen;
    std::string part;
  };

  std::vector<traced_operation> operations_;
};

/// Runs each device stage alone, with all rows, while the device traces operations, and adds the
/// operations to `record`. If tracing fails, adds a warning. Overwrites the first slot's tensors.
void trace_stages(prepared_pipeline& pipeline, run_record& record, const stop_request* stop) {
  const wait_mode how = pipeline.planned().run.wait;
  try {
    std::vector<std::unique_ptr<operation_trace>> traces;
    for (device* d : pipeline.devices().all()) traces.push_back(d->trace_operations());
    for (auto& stage : pipeline.slots().front().stages) {
      if (stage.cpu != nullptr) continue;
      if (stop != nullptr && stop->raised()) {
        record.warnings.push_back(fmt::format(
            "interrupted before the operations of stage '{}' and those after it were traced",
            stage.name));
        return;
      }
      auto& of = record.stages[stage.index];
      const auto& parts = pipeline.parts()[stage.index].back();
      const auto run = [&] {
        return traced_run(stage, parts, *stage.placed_on, how, *traces[stage.device_index]);
      };
      with_stage_context(pipeline.planned().stages[stage.index], "tracing its operations", [&] {
        run();  // the first traced run includes set-up
        for (int i = 0; i < traced_runs; ++i) run().add_to(of);
      });
    }
  } catch (const std::exception& e) {
    record.warnings.push_back(fmt::format("operations were not traced: {}", reason_of(e)));
  }
}

/// Returns errors if the plan does not allow this timing method or rate.
diagnostics refusal_of(const plan& p, timing_method method, std::optional<double> rate) {
  settings run = p.run;
  run.timing = method;
  run.rate = rate;
  diagnostics found;
  check_settings(run, {}, found);
  return found;
}

bool has_parts(const prepared_pipeline& pipeline) {
  const auto& parts = pipeline.parts();
  return std::ranges::any_of(parts, [](const auto& by_bucket) {
    return std::ranges::any_of(by_bucket, [](const auto& list) { return !list.empty(); });
  });
}

/// Adds the versions of the libraries that compute stages on this device, each once.
void add_library_versions(const prepared_pipeline& pipeline,
                          std::vector<std::pair<std::string, std::string>>& to) {
  for (const auto& stage : pipeline.planned().stages) {
    const device& on = pipeline.devices()[stage.device];
    const auto of = stage.kind->libraries.find(on.properties().backend);
    if (of == stage.kind->libraries.end()) continue;
    for (auto& library : of->second()) {
      if (std::ranges::find(to, library) == to.end()) to.push_back(std::move(library));
    }
  }
}

bool is_raised(const stop_request* stop) {
  return stop != nullptr && stop->raised();
}

/// Returns the median times of stages in a warm-up. Warns of stages that did not run in it.
std::vector<nanoseconds> times_in(recording kept, std::int64_t completed, run_record& warned) {
  run_record record;
  std::move(kept).move_into(record, completed);
  std::string unknown;
  for (const stage_record& stage : record.stages) {
    const bool runs =
        stage.rows.empty() || std::ranges::any_of(stage.rows, [](auto rows) { return rows > 0; });
    if (completed > 0 && runs) continue;
    unknown += (unknown.empty() ? "" : ", ") + quote(stage.name);
  }
  if (!unknown.empty()) {
    warned.warnings.push_back(
        fmt::format("the policy's expected times are 0 for stages that did not run in the warm-up: "
                    "{}; a longer warm-up may run them",
                    unknown));
  }
  return median_times(record);
}

/// Marks a run that reached `max_time` as complete, with the frames done by then.
void end_at_max_time(run_record& record) {
  record.interrupted = false;
  record.run.frames = static_cast<std::int64_t>(frames_due(record));
  if (record.frames.size() + record.load.dropped.size() > 0 || record.failure) return;
  record.failure = "max_time passed before a frame completed";
}

/// @throws run_error
void create_folder(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    throw run_error(
        fmt::format("{}: cannot make the folder: {}", folder.string(), problem.message()));
  }
}

/// Returns what the last frame of a slot wrote of a tensor: of a tensor with rows, these rows.
std::pair<tensor_type, std::span<const std::byte>> frame_values(prepared_pipeline& pipeline,
                                                                std::size_t tensor,
                                                                std::size_t slot, memory& staging) {
  tensor_view view = pipeline.tensor(tensor, slot);
  if (const auto rows = pipeline.rows_of(tensor, slot)) {
    if (view.type.shape.rank() == 0) return {view.type, {}};
    view.type.shape.set_rows(*rows);
  }
  return {view.type, pipeline.read(view, tensor, staging)};
}

/// Writes the outputs in a slot into a folder, which it creates if missing.
/// @throws run_error naming the file
void write_outputs(prepared_pipeline& pipeline, std::size_t slot,
                   const std::filesystem::path& folder, tensor_file_names& names) {
  create_folder(folder);
  for (std::size_t i = 0; i < pipeline.planned().tensors.size(); ++i) {
    const auto& t = pipeline.planned().tensors[i];
    if (!t.output()) continue;
    memory staging;
    const auto [type, bytes] = frame_values(pipeline, i, slot, staging);
    write_npy(folder / names.next({"output", t.name}), type, bytes);
  }
}

/// Adds the outputs in a slot to the record, compared with the tensors in the folder `reference` if
/// there is one. If this fails, sets `failure` and keeps the frames.
void read_outputs(prepared_pipeline& pipeline, std::size_t slot, const std::string& reference,
                  run_record& record) {
  const auto& tensors = pipeline.planned().tensors;
  try {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& t = tensors[i];
      if (!t.output()) continue;
      memory staging;
      const auto [type, bytes] = frame_values(pipeline, i, slot, staging);
      auto& output = record.outputs.emplace_back(describe_output(t.name, t.type, bytes));
      output.rows = pipeline.rows_of(i, slot);
      if (reference.empty()) continue;
      compare_with_reference(output, type, bytes, reference_file(reference, t.name));
    }
  } catch (const error& e) {
    record.failure = fmt::format("after the last frame: {}", e.what());
  }
}

}  // namespace

/// Measured frames of a run in progress, for `abandon_run`.
class measured_frames {
 public:
  void begin(const run_record& record, const recording& kept, frame_schedule* schedule,
             nanoseconds epoch) {
    const std::lock_guard locked(lock_);
    record_ = &record;
    kept_ = &kept;
    schedule_ = schedule;
    epoch_ = epoch;
  }

  /// Does not return if the frames were abandoned, because the record then belongs to another
  /// thread.
  void end() {
    {
      const std::lock_guard locked(lock_);
      if (!abandoned_) {
        kept_ = nullptr;
        return;
      }
    }
    for (;;) ::pause();
  }

  std::optional<run_record> abandon() {
    const std::lock_guard locked(lock_);
    if (kept_ == nullptr || kept_->complete() == 0) return std::nullopt;
    abandoned_ = true;
    run_record record = *record_;
    if (schedule_ != nullptr) schedule_->close();
    const std::int64_t complete = kept_->complete();
    if (schedule_ != nullptr) record.load = schedule_->end(epoch_, now(), complete);
    recording(*kept_).move_into(record, complete);
    record.interrupted = true;
    return record;
  }

 private:
  std::mutex lock_;
  const run_record* record_ = nullptr;
  const recording* kept_ = nullptr;  ///< null if no frame is being measured
  frame_schedule* schedule_ = nullptr;
  nanoseconds epoch_ = 0;
  bool abandoned_ = false;
};

namespace {

/// Gives the calling thread a real-time priority during this object's lifetime.
/// @throws run_error with a remedy if the system refuses
struct required_realtime : scoped_realtime {
  explicit required_realtime(std::int64_t priority) : scoped_realtime(priority) {
    if (refused()) throw run_error(realtime_refusal(priority));
  }
};

}  // namespace

session::session(plan p, device_group on, const stop_request* stop,
                 const shared_resources<real_host>* share, bool time_launches) {
  suggest_on_crash(p.run.guard ? nullptr
                               : "if a stage wrote beyond its outputs, --guard on finds it");
  if (p.ranks > 1) {
    throw input_error(fmt::format(
        "pipeline '{}' has stages on {} ranks; only 'mpirun -n {} graphline run' runs it",
        printable(p.pipeline), p.ranks, p.ranks));
  }
  { const required_realtime permitted(p.run.realtime); }
  const memory_usage before = on.usage();
  std::vector<memory_usage> each;
  for (const graphline::device* d : on.all()) each.push_back(d->usage());
  pipeline_ = std::make_unique<prepared_pipeline>(std::move(p), on, stop, time_launches);
  memory_ = taken_since(before, on.usage());
  for (std::size_t d = 0; d < each.size(); ++d) {
    memories_.push_back(taken_since(each[d], on[d].usage()));
  }
  executor_ = make_executor(*pipeline_, share);
  measured_ = std::make_unique<measured_frames>();
}
session::~session() = default;
session::session(session&&) noexcept = default;

const plan& session::planned() const noexcept {
  return pipeline_->planned();
}

const device_group& session::devices() const noexcept {
  return pipeline_->devices();
}

std::vector<timing_method> session::timing_methods() const {
  std::vector<timing_method> list;
  for (const auto& entry : timing_method_words) {
    const bool meant = entry.second != timing_method::layers || has_parts(*pipeline_);
    if (!meant || refusal_of(planned(), entry.second, planned().run.rate).has_errors()) continue;
    list.push_back(entry.second);
  }
  return list;
}

run_record session::run(const run_options& options) {
  const required_realtime realtime(planned().run.realtime);
  run_record record = begin_record(planned(), devices().properties());
  record.memory = memory_;
  for (std::size_t d = 0; d < record.devices.size(); ++d) record.devices[d].memory = memories_[d];
  record.run.timing = options.timing.value_or(record.run.timing);
  record.run.frames = frames_that_arrive(planned(), options.frames.value_or(record.run.frames));
  record.run.warmup = options.warmup.value_or(record.run.warmup);
  if (options.rate) record.run.rate = options.rate;
  add_library_versions(*pipeline_, record.environment);
  record.graphs = pipeline_->graphs();
  const timing_method method = record.run.timing;
  const planned_policy& policy = planned().policy;
  const bool times_stages =
      policy.kind != nullptr && policy.kind->needs_times && options.expected.empty();
  if (record.policy) record.policy->expected_from = options.expected_from;
  refusal_of(planned(), method, record.run.rate).throw_if_errors();
  const auto allocations_before = devices().usage().allocations;
  pipeline_->prepare(method);
  if (method == timing_method::layers && !has_parts(*pipeline_)) {
    record.warnings.push_back(
        "timing: layers has no effect: no stage exposes parts; same as timing: event");
  }
  const nanoseconds epoch = options.common_epoch.value_or(now());
  record.epoch = epoch;

  // If expected times are those of the warm-up, it measures them under all methods.
  recording ignored(planned(), pipeline_->parts(), devices(),
                    times_stages ? timing_method::event : method, record.run.warmup, epoch);
  if (times_stages &&
      !std::ranges::all_of(devices().properties(), &device_properties::reports_busy_time))
    ignored.keep_apart();
  phase warmup{record.run.warmup, 0, &ignored, options.stop, options.on_progress, true};
  warmup.together = planned().run.batch_frames;
  std::vector<clock_watch> clocks;  // by device
  if (!options.common_epoch) {
    for (device* d : devices().all()) clocks.emplace_back(*d);
  }
  const phase_result warm = executor_->run(warmup);
  last_slot_ = slot_of(ignored, warm.completed);

  recording kept(planned(), pipeline_->parts(), devices(), method, record.run.frames, epoch);
  phase_result result = warm;
  result.completed = 0;
  if (!warm.interrupted && !warm.failure) {
    stop_request stop(options.stop);
    std::optional<run_policy> scheduled;
    const pipeline_policy* joined = nullptr;
    if (policy.kind != nullptr) {
      scheduled_pipeline of{&planned(), options.expected};
      if (times_stages) of.expected = times_in(std::move(ignored), warm.completed, record);
      if (options.join_policy) {
        joined = options.join_policy(std::move(of.expected));
      } else {
        joined = &scheduled.emplace(policy, record.run.seed, std::vector{std::move(of)}).of(0);
      }
    }
    phase measured{record.run.frames, record.run.warmup, &kept, &stop, options.on_progress, false};
    auto schedule =
        make_frame_schedule(planned(), record.run, options.arrival_seed.value_or(record.run.seed));
    if (options.feed != nullptr) {
      if (planned().run.batch_frames > 1) {
        throw input_error("submitted frames run one by one: omit batch_frames");
      }
      measured.feed = options.feed;
      schedule.reset();
      options.feed->open(record.run);
    }
    measured.schedule = schedule.get();
    std::mutex writing;
    if (!options.frame_outputs.empty()) {
      measured.on_pass_end = [&](std::size_t slot, const frame_position& frame) {
        if (kept.was_cut_short(frame.index)) return;
        const std::lock_guard one_by_one(writing);
        tensor_file_names names;
        write_outputs(
            *pipeline_, slot,
            std::filesystem::path(options.frame_outputs) / fmt::format("frame.{}", frame.first),
            names);
      };
      record.warnings.push_back(
          "the outputs of each frame were written between frames; throughput and waits include the "
          "writing");
    }
    measured.policy = joined;
    machine_watch machine(devices().front(), options.at_machine);
    for (std::size_t d = 0; d < record.devices.size(); ++d) {
      record.devices[d].before = devices()[d].state();
    }
    if (options.before_frames) options.before_frames();
    for (device* d : devices().all()) d->profile(true);
    const nanoseconds used_before = processor_time();
    if (record.run.max_time) stop.raise_at(now() + *record.run.max_time);
    measured_->begin(record, kept, schedule.get(), epoch);
    result = executor_->run(measured);
    const nanoseconds ended = now();
    measured_->end();
    record.processor_time = processor_time() - used_before;
    if (!result.failure && options.after_frames) options.after_frames();
    // Called after `after_frames`, because this ends the profile of all concurrent runs.
    for (device* d : devices().all()) d->profile(false);
    record.conditions = machine.end(epoch);
    for (std::size_t d = 0; d < record.devices.size(); ++d) {
      record.devices[d].after = devices()[d].state();
    }
    if (schedule) record.load = schedule->end(epoch, ended, result.completed);
    if (options.feed) record.load = options.feed->end(epoch, ended, result.completed);
    for (clock_watch& clock : clocks) {
      if (!result.failure) clock.end();
    }
    if (result.completed > 0) last_slot_ = slot_of(kept, result.completed);
  }
  record.memory.allocations += devices().usage().allocations - allocations_before;
  std::move(kept).move_into(record, result.completed);
  for (std::size_t d = 0; d < clocks.size(); ++d) clocks[d].settle(record, epoch, d);
  record.interrupted = result.interrupted;
  if (options.feed != nullptr && !result.interrupted &&
      !result.failure) {  // a closed feed ends the run early
    record.run.frames = static_cast<std::int64_t>(frames_due(record));
  }
  record.failure = result.failure;
  if (!record.failure && goes_back(record)) {
    record.failure =
        "the machine's clock went back while it ran, so its times mean nothing; run it again";
  }
  if (result.interrupted && !is_raised(options.stop)) end_at_max_time(record);
  if (!record.failure && last_slot_)
    read_outputs(*pipeline_, *last_slot_, options.reference, record);
  return record;
}

std::optional<run_record> session::abandon_run() {
  return measured_->abandon();
}

void session::trace_operations(run_record& record, const stop_request* stop) {
  trace_stages(*pipeline_, record, stop);
  last_slot_.reset();
}

void session::save_tensors(const std::string& directory) {
  const std::filesystem::path folder(directory);
  create_folder(folder);
  tensor_file_names names;
  for (std::size_t i = 0; i < planned().tensors.size(); ++i) {
    const auto& t = planned().tensors[i];
    if (!t.input) continue;
    memory staging;
    const auto [type, bytes] = frame_values(*pipeline_, i, 0, staging);
    write_npy(folder / names.next({"input", t.name}), type, bytes);
  }
  if (last_slot_) write_outputs(*pipeline_, *last_slot_, folder, names);
  for (const auto& stage : planned().stages) {
    if (!stage.prepared->weights) continue;
    const auto weights = with_stage_context(stage, "reading its weights for --save-tensors",
                                            [&] { return stage.prepared->weights(stage.config); });
    for (const auto& w : weights) {
      write_npy(folder / names.next({"weight", stage.name, w.name}), w.type, w.data);
    }
  }
}

std::optional<std::size_t> session::slot_of(const recording& of, std::int64_t completed) const {
  const auto slots = std::ssize(pipeline_->slots());
  for (std::int64_t pass = completed - 1; pass >= 0 && pass >= completed - slots; --pass) {
    if (!of.was_cut_short(pass)) return static_cast<std::size_t>(pass % slots);
  }
  return std::nullopt;
}

}  // namespace graphline
