#include <algorithm>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {

object_table& objects() {
  static object_table* const only = new object_table;
  return *only;
}

task_ref submit(cudaStream_t s, const operation_ref& what) {
  if (s->capture != nullptr) {
    capture_node(*s, what);
    return nullptr;
  }
  put_last(s, the_machine().add(what, s->device, s->priority, {s->last}));
  return s->last;
}

void put_last(cudaStream_t s, const task_ref& t) {
  s->last = t;
  if (t->done) return;
  t->queue = s->queue;
  ++*s->queue;
}

void wait_for_room(std::unique_lock<std::mutex>& lock, cudaStream_t s) {
  if (objects().streams.has(s)) the_machine().wait_for_room(lock, s->queue);
}

}  // namespace fake_cuda

using namespace fake_cuda;

namespace {

cudaError_t create(const char* call, cudaStream_t* stream, unsigned flags, int priority) {
  return api(call, [&](locked&) {
    if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    if (const cudaError_t status = refuse_unsafe(); status != cudaSuccess) return status;
    *stream = objects().streams.add();
    (*stream)->device = current_device();
    (*stream)->priority = std::clamp(priority, most_urgent, least_urgent);
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create("cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create("cudaStreamCreateWithFlags", stream, flags, least_urgent);
}

// What is enqueued is carried out all the same.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api("cudaStreamDestroy", call_kind::releasing, [&](locked&) {
    if (!objects().streams.has(stream)) return cudaErrorInvalidResourceHandle;
    if (const capture_ref c = stream->capture; c != nullptr) {
      if (c->origin == stream) return cudaErrorStreamCaptureUnsupported;
      c->invalidated = true;
      c->streams.erase(stream);
    }
    objects().streams.remove(stream);
    return cudaSuccess;
  });
}

namespace {

/// For calls that ask how far a stream is.
cudaError_t refuse_to_ask(cudaStream_t s) {
  if (!objects().streams.has(s)) return cudaErrorInvalidResourceHandle;
  if (s->capture != nullptr) {
    s->capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  return refuse_unsafe();
}

}  // namespace

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api("cudaStreamQuery", [&](locked&) {
    if (const auto refused = refuse_to_ask(stream); refused != cudaSuccess) return refused;
    const bool passed = stream->last == nullptr || stream->last->done;
    return passed ? the_machine().devices[stream->device].failure : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api("cudaStreamSynchronize", [&](locked& lock) {
    if (const auto refused = refuse_to_ask(stream); refused != cudaSuccess) return refused;
    const int device = stream->device;
    the_machine().wait_for(lock, task_ref(stream->last));  // the stream may be destroyed meanwhile
    return the_machine().devices[device].failure;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api("cudaStreamWaitEvent", [&](locked& lock) {
    wait_for_room(lock, stream);
    if (const cudaError_t status = usable(stream); status != cudaSuccess) return status;
    if (!objects().events.has(event)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault) return cudaErrorNotSupported;
    if (stream->capture != nullptr || event->captured != nullptr) {
      return capture_wait(*stream, *event);
    }
    if (event->recording == nullptr) return cudaSuccess;
    put_last(stream, the_machine().add(nothing(), stream->device, stream->priority,
                                       {stream->last, event->recording}));
    return cudaSuccess;
  });
}
