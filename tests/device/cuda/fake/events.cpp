#include <thread>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

operation_ref recording_of(cudaEvent_t e, const CUstream_st& s) {
  auto what = std::make_shared<operation>();
  what->type = cudaGraphNodeTypeEventRecord;
  what->device = s.device;
  what->priority = s.priority;
  what->event = e;
  return what;
}

cudaError_t record(cudaStream_t s, cudaEvent_t e, unsigned flags) {
  if (const cudaError_t status = usable(s); status != cudaSuccess) return status;
  if (!objects().events.has(e) || e->device != s->device) return cudaErrorInvalidResourceHandle;
  if (flags == cudaEventRecordExternal) {
    // "This flag is invalid outside of stream capture" (cuEventRecordWithFlags).
    if (s->capture == nullptr) return cudaErrorInvalidValue;
    capture_node(*s, recording_of(e, *s));
    return cudaSuccess;
  }
  if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
  if (s->capture != nullptr) {
    e->captured = s->capture;
    e->captured_after = s->heads;
    e->recording.reset();
    return cudaSuccess;
  }
  e->captured.reset();
  e->captured_after.clear();
  e->recording = submit(s, recording_of(e, *s));
  return cudaSuccess;
}

/// For calls that ask whether an event has passed.
cudaError_t refuse_to_ask(cudaEvent_t e) {
  if (!objects().events.has(e)) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t status = refuse_captured(*e); status != cudaSuccess) return status;
  return refuse_unsafe();
}

cudaError_t refuse_to_time(cudaEvent_t e) {
  if (!objects().events.has(e)) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t status = refuse_captured(*e); status != cudaSuccess) return status;
  const bool keeps_time = (e->flags & cudaEventDisableTiming) == 0;
  if (!keeps_time || e->recording == nullptr) return cudaErrorInvalidResourceHandle;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api("cudaEventCreateWithFlags", [&](locked&) {
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    if ((flags & ~known) != 0) return cudaErrorInvalidValue;
    *event = objects().events.add();
    (*event)->device = current_device();
    (*event)->flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api("cudaEventDestroy", call_kind::releasing, [&](locked&) {
    if (!objects().events.has(event)) return cudaErrorInvalidResourceHandle;
    objects().events.remove(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api("cudaEventRecord", [&](locked& lock) {
    wait_for_room(lock, stream);
    return record(stream, event, cudaEventRecordDefault);
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return api("cudaEventRecordWithFlags", [&](locked& lock) {
    wait_for_room(lock, stream);
    return record(stream, event, flags);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const cudaError_t status = api("cudaEventQuery", [&](locked&) {
    if (const auto refused = refuse_to_ask(event); refused != cudaSuccess) return refused;
    const bool passed = event->recording == nullptr || event->recording->done;
    return passed ? the_machine().devices[event->device].failure : cudaErrorNotReady;
  });
  // Whoever asks again and again would keep the lock from the device.
  if (status == cudaErrorNotReady) std::this_thread::yield();
  return status;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api("cudaEventSynchronize", [&](locked& lock) {
    if (const auto refused = refuse_to_ask(event); refused != cudaSuccess) return refused;
    const int device = event->device;
    if ((event->flags & cudaEventBlockingSync) == 0) ++the_machine().busy_waits;
    the_machine().wait_for(lock, task_ref(event->recording));  // as it is now
    return the_machine().devices[device].failure;
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return api("cudaEventElapsedTime", [&](locked&) {
    for (const cudaEvent_t e : {start, end}) {
      if (const auto refused = refuse_to_time(e); refused != cudaSuccess) return refused;
    }
    if (start->device != end->device) return cudaErrorInvalidResourceHandle;
    if (!start->recording->done || !end->recording->done) return cudaErrorNotReady;
    *ms = static_cast<float>(static_cast<double>(end->recording->at - start->recording->at) / 1e6);
    return cudaSuccess;
  });
}
