#include "framework/run/session.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <span>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/run/environment.hpp"
#include "framework/run/executor.hpp"
#include "framework/run/npy.hpp"
#include "framework/run/prepared_pipeline.hpp"
#include "framework/run/recording.hpp"

namespace graphline {
namespace {

/// 64-bit FNV-1a, as 16 hexadecimal digits.
std::string checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte b : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

template <class T>
bool all_finite(std::span<const std::byte> bytes) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

bool finite(const tensor_type& type, std::span<const std::byte> bytes) {
  if (type.element == dtype::float32) return all_finite<float>(bytes);
  if (type.element == dtype::float64) return all_finite<double>(bytes);
  return true;
}

/// A stage or tensor name as part of a file name; names hold no slashes (the reader sees to it),
/// but one that a C++ program made may.
std::string file_part(std::string name) {
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  return name;
}

}  // namespace

class session::implementation {
 public:
  implementation(plan p, device& d, const stop_request* stop)
      : pipeline_(std::move(p), d, stop),
        executor_(planned().run.strategy == strategy::overlap
                      ? make_overlap_executor(pipeline_)
                      : make_sequential_executor(pipeline_)) {}

  const plan& planned() const noexcept { return pipeline_.planned(); }

  run_record run(const run_options& options) {
    run_record record = describe(options);
    const timing_method method = record.run.timing;
    const nanoseconds epoch = now();

    recording ignored(planned(), method, record.run.warmup, epoch);
    batch warmup{record.run.warmup, 0, &ignored, options.stop, options.on_progress, true};
    const batch_result warm = executor_->run(warmup);
    last_slot_ = slot_of(warm.completed);

    recording kept(planned(), method, record.run.frames, epoch);
    batch_result result = warm;
    result.completed = 0;
    if (!warm.interrupted && !warm.failure) {
      batch measured{record.run.frames, record.run.warmup,   &kept,
                     options.stop,      options.on_progress, false};
      result = executor_->run(measured);
      if (result.completed > 0) last_slot_ = slot_of(result.completed);
    }
    record.memory = pipeline_.device().usage();
    std::move(kept).hand_over(record, result.completed);
    record.interrupted = result.interrupted;
    record.failure = result.failure;
    if (!record.failure && last_slot_) describe_outputs(record);
    return record;
  }

  void save_tensors(const std::string& directory) {
    const std::filesystem::path folder(directory);
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) {
      throw run_error(fmt::format("{}: cannot make the folder: {}", directory, problem.message()));
    }
    for (std::size_t i = 0; i < planned().tensors.size(); ++i) {
      const auto& t = planned().tensors[i];
      if (t.input) {
        save(folder, "input." + t.name, t.type, pipeline_.read(pipeline_.tensor(i, 0), t.on));
      } else if (t.output() && last_slot_) {
        save(folder, "output." + t.name, t.type,
             pipeline_.read(pipeline_.tensor(i, *last_slot_), t.on));
      }
    }
    for (const auto& stage : planned().stages) {
      if (!stage.kind->weights) continue;
      for (const auto& w : stage.kind->weights(stage.config)) {
        save(folder, "weight." + stage.name + "." + w.name, w.type, w.data);
      }
    }
  }

 private:
  std::optional<std::size_t> slot_of(std::int64_t completed) {
    if (completed == 0) return std::nullopt;
    return static_cast<std::size_t>(completed - 1) % pipeline_.slots().size();
  }

  run_record describe(const run_options& options) const {
    run_record record;
    record.pipeline = planned().pipeline;
    record.description = planned().description;
    record.parameters = planned().parameters;
    record.run = planned().run;
    record.run.timing = options.timing.value_or(record.run.timing);
    record.run.frames = options.frames.value_or(record.run.frames);
    record.run.warmup = options.warmup.value_or(record.run.warmup);
    record.device = pipeline_.device().properties();
    record.environment = describe_environment();
    return record;
  }

  void describe_outputs(run_record& record) {
    for (std::size_t i = 0; i < planned().tensors.size(); ++i) {
      const auto& t = planned().tensors[i];
      if (!t.output()) continue;
      const auto bytes = pipeline_.read(pipeline_.tensor(i, *last_slot_), t.on);
      record.outputs.push_back({t.name, t.type, checksum(bytes), finite(t.type, bytes)});
      if (!record.outputs.back().finite) {
        record.warnings.push_back(fmt::format("output '{}' holds NaN or infinity", t.name));
      }
    }
  }

  static void save(const std::filesystem::path& folder, const std::string& name,
                   const tensor_type& type, std::span<const std::byte> data) {
    write_npy(folder / (file_part(name) + ".npy"), type, data);
  }

  prepared_pipeline pipeline_;
  std::unique_ptr<executor> executor_;
  std::optional<std::size_t> last_slot_;  ///< holds the outputs of the last frame
};

session::session(plan p, device& d, const stop_request* stop)
    : impl_(std::make_unique<implementation>(std::move(p), d, stop)) {}
session::~session() = default;
session::session(session&&) noexcept = default;
session& session::operator=(session&&) noexcept = default;

const plan& session::planned() const noexcept {
  return impl_->planned();
}
run_record session::run(const run_options& options) {
  return impl_->run(options);
}
void session::save_tensors(const std::string& directory) {
  impl_->save_tensors(directory);
}

}  // namespace graphline
