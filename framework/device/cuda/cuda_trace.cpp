#include "framework/device/cuda/cuda_device.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_graph.hpp"
#include "framework/device/cuda/cuda_versions.hpp"
#include "framework/device/cuda/library_loader.hpp"

namespace graphline {
namespace {

/// CUPTI's functions. The library is opened at the first trace.
struct cupti_functions {
  const shared_library library =
      open_library(fmt::format("libcupti.so.{}", CUDART_VERSION / 1000), library_places(),
                   "It comes with the CUDA toolkit and with Python's package nvidia-cuda-cupti; "
                   "its folder can be named in GRAPHLINE_LIBRARY_PATH.");
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks =
      function_of(library, "cuptiActivityRegisterCallbacks");
  decltype(&cuptiActivityEnable) enable = function_of(library, "cuptiActivityEnable");
  decltype(&cuptiActivityDisable) disable = function_of(library, "cuptiActivityDisable");
  decltype(&cuptiActivityFlushAll) flush_all = function_of(library, "cuptiActivityFlushAll");
  decltype(&cuptiActivityGetNextRecord) next_record =
      function_of(library, "cuptiActivityGetNextRecord");
  decltype(&cuptiActivityGetNumDroppedRecords) count_dropped =
      function_of(library, "cuptiActivityGetNumDroppedRecords");
  decltype(&cuptiGetResultString) result_string = function_of(library, "cuptiGetResultString");
};

const cupti_functions& cupti() {
  static const cupti_functions functions;
  return functions;
}

void check_cupti(CUptiResult status, const char* call) {
  if (status == CUPTI_SUCCESS) return;
  const char* meaning = nullptr;
  static_cast<void>(cupti().result_string(status, &meaning));
  throw run_error(fmt::format(
      "{} failed: {} ({}); detach other profilers, or allow this user access to the GPU's "
      "performance counters",
      call, meaning == nullptr ? "unknown" : meaning, static_cast<int>(status)));
}

/// Returns the number of operations that CUPTI dropped since the previous call.
std::size_t dropped_records() {
  std::size_t count = 0;
  check_cupti(cupti().count_dropped(nullptr, 0, &count), "cuptiActivityGetNumDroppedRecords");
  return count;
}

struct traced_operation {
  std::uint64_t begin = 0;
  operation_time operation;
};

/// The records that CUPTI's threads deliver.
struct collected {
  std::mutex mutex;
  std::uint32_t device = 0;
  bool tracing = false;
  std::vector<traced_operation> operations;
  std::string untimed;  ///< name of the first operation without times, if any
};

collected& all_collected() {
  static auto* const the_one = new collected;  // CUPTI may still use it at process exit
  return *the_one;
}

template <class Record>
void keep(collected& into, const CUpti_Activity* activity, std::string name) {
  const auto& record = *reinterpret_cast<const Record*>(activity);
  if (record.deviceId != into.device) return;
  if (record.start == 0 || record.end < record.start) {  // CUPTI does not know them
    if (into.untimed.empty()) into.untimed = std::move(name);
    return;
  }
  into.operations.push_back({record.start,
                             {std::move(name), static_cast<nanoseconds>(record.end) -
                                                   static_cast<nanoseconds>(record.start)}});
}

void keep(collected& into, const CUpti_Activity* activity) {
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const char* name = reinterpret_cast<const cupti_kernel*>(activity)->name;
      return keep<cupti_kernel>(into, activity, name == nullptr ? "kernel" : demangled(name));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto bytes = reinterpret_cast<const CUpti_ActivityMemcpy6*>(activity)->bytes;
      return keep<CUpti_ActivityMemcpy6>(into, activity, "copy " + format_bytes(bytes));
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto bytes = reinterpret_cast<const CUpti_ActivityMemset4*>(activity)->bytes;
      return keep<CUpti_ActivityMemset4>(into, activity, "fill " + format_bytes(bytes));
    }
    default:
      return;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, bytes));  // alignment for CUPTI
  *size = *buffer == nullptr ? 0 : bytes;
  *max_records = 0;  // no limit but the buffer's size
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t /*size*/,
                          std::size_t valid) {
  collected& into = all_collected();
  {
    const std::scoped_lock lock(into.mutex);
    CUpti_Activity* record = nullptr;
    while (into.tracing && cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
      keep(into, record);
    }
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind traced_kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

class cuda_trace final : public operation_trace {
 public:
  explicit cuda_trace(int device) {
    static_cast<void>(cupti());
    collected& into = all_collected();
    {
      const std::scoped_lock lock(into.mutex);
      if (into.tracing) throw run_error("operations are being traced already; one trace at a time");
      into.tracing = true;
      into.device = static_cast<std::uint32_t>(device);
      into.operations.clear();
      into.untimed.clear();
    }
    try {
      check_cupti(cupti().register_callbacks(&give_buffer, &take_buffer),
                  "cuptiActivityRegisterCallbacks");
      for (const auto kind : traced_kinds) check_cupti(cupti().enable(kind), "cuptiActivityEnable");
      static_cast<void>(dropped_records());  // clears the count of the previous trace
    } catch (...) {
      stop();
      throw;
    }
  }

  ~cuda_trace() override { stop(); }

  std::vector<operation_time> take() override {
    check_cupti(cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
    if (const std::size_t dropped = dropped_records(); dropped > 0) {
      throw run_error(fmt::format(
          "CUPTI had no memory for {} of the operations, so their names would go to the wrong "
          "ones; trace a pipeline with fewer operations a frame, or end other programs",
          dropped));
    }
    collected& into = all_collected();
    const std::scoped_lock lock(into.mutex);
    if (!into.untimed.empty()) {
      throw run_error(fmt::format(
          "CUPTI reports operation '{}' without time stamps; trace on a machine whose driver gives "
          "it the GPU's time stamps, or use the vendor's profiler",
          into.untimed));
    }
    std::ranges::sort(into.operations, {}, &traced_operation::begin);
    std::vector<operation_time> result;
    for (auto& o : into.operations) result.push_back(std::move(o.operation));
    into.operations.clear();
    return result;
  }

 private:
  /// Flushes and drops remaining records, so that they do not appear in the next trace.
  static void stop() noexcept {
    {
      const std::scoped_lock lock(all_collected().mutex);
      all_collected().tracing = false;
    }
    static_cast<void>(cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    for (const auto kind : traced_kinds) static_cast<void>(cupti().disable(kind));
  }
};

}  // namespace

std::unique_ptr<operation_trace> trace_cuda_operations(int device) {
  return std::make_unique<cuda_trace>(device);
}

}  // namespace graphline
