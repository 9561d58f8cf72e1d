#include <cupti.h>

#include <cstring>
#include <set>
#include <vector>

#include "tests/device/cuda/fake/fake_cupti.hpp"

namespace {

using kernel_record = CUpti_ActivityKernel10;

CUpti_BuffersCallbackRequestFunc give = nullptr;
CUpti_BuffersCallbackCompleteFunc take = nullptr;
std::set<CUpti_ActivityKind> enabled;
std::vector<kernel_record> noted;

}  // namespace

namespace fake_cupti {

void note_kernel(const char* name, std::uint32_t device, std::uint64_t start, std::uint64_t end) {
  if (!enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return;
  kernel_record& added = noted.emplace_back();
  std::memset(static_cast<void*>(&added), 0, sizeof added);
  added.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  added.name = name;
  added.deviceId = device;
  added.start = start;
  added.end = end;
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
  for (const kernel_record& record : noted) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    give(&buffer, &size, &most);
    if (buffer == nullptr || size < sizeof record) return CUPTI_ERROR_OUT_OF_MEMORY;
    std::memcpy(buffer, &record, sizeof record);
    take(nullptr, 0, buffer, size, sizeof record);
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

CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "a failure of the fake";
  return CUPTI_SUCCESS;
}
