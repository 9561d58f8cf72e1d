#include <cupti.h>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "framework/device/cuda/cuda_versions.hpp"
#include "tests/device/cuda/fake/fake_cupti.hpp"

namespace {

CUpti_BuffersCallbackRequestFunc give = nullptr;
CUpti_BuffersCallbackCompleteFunc take = nullptr;
std::set<CUpti_ActivityKind> enabled;
std::vector<std::vector<std::uint8_t>> noted;
std::size_t dropped = 0;

template <class Record>
Record record_of(CUpti_ActivityKind kind, std::uint32_t device, std::uint64_t start,
                 std::uint64_t end) {
  Record made;
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.kind = kind;
  made.deviceId = device;
  made.start = start;
  made.end = end;
  return made;
}

template <class Record>
void note(const Record& record) {
  if (!enabled.contains(record.kind)) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&record);
  noted.emplace_back(bytes, bytes + sizeof record);
}

}  // namespace

namespace fake_cupti {

void note_kernel(const char* name, std::uint32_t device, std::uint64_t start, std::uint64_t end) {
  auto made =
      record_of<graphline::cupti_kernel>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, device, start, end);
  made.name = name;
  note(made);
}

void note_copy(std::uint64_t bytes, std::uint32_t device, std::uint64_t start, std::uint64_t end) {
  auto made = record_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, device, start, end);
  made.bytes = bytes;
  note(made);
}

void note_fill(std::uint64_t bytes, std::uint32_t device, std::uint64_t start, std::uint64_t end) {
  auto made = record_of<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, device, start, end);
  made.bytes = bytes;
  note(made);
}

void drop(std::size_t count) {
  dropped += count;
}

}  // namespace fake_cupti

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  give = request;
  take = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  enabled.erase(kind);
  return CUPTI_SUCCESS;
}

/// A buffer for every record, as where they are many.
CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  if (give == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  for (const std::vector<std::uint8_t>& record : noted) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    give(&buffer, &size, &most);
    if (buffer == nullptr || size < record.size()) {
      ++dropped;
      continue;
    }
    std::memcpy(buffer, record.data(), record.size());
    take(nullptr, 0, buffer, size, record.size());
  }
  noted.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  auto* const first = reinterpret_cast<CUpti_Activity*>(buffer);
  if (valid == 0 || *record == first) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = first;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* count) {
  if (count == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *count = std::exchange(dropped, 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "a failure of the fake";
  return CUPTI_SUCCESS;
}
