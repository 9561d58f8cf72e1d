#pragma once

// Shared by the probes. Each runs in its own process, whose end frees its resources.

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

namespace gpu_probe {

/// Prints a fact as a line of JSON, flushed, so that a later crash does not lose it.
void tell(const std::string& fact, double value, const std::string& unit);
void tell(const std::string& fact, const std::string& text);

/// @throws graphline::cuda_error unless the status is cudaSuccess
void check(cudaError_t status, const char* call);

/// "cudaSuccess", "cudaErrorStreamCaptureUnjoined (904)".
std::string status_text(cudaError_t status);

cudaStream_t make_stream();
cudaEvent_t make_event(unsigned flags = cudaEventDefault);
void record(cudaEvent_t event, cudaStream_t stream);
/// Records an event as a node of the captured graph, at every launch.
void record_in_graph(cudaEvent_t event, cudaStream_t stream);
/// Makes later work of the stream wait for all earlier work of the other one.
void join(cudaStream_t stream, cudaStream_t other);
/// Polls once, and clears the status "not ready".
bool is_done(cudaEvent_t event);
/// Time between two events, which the host need not have waited for.
double microseconds(cudaEvent_t from, cudaEvent_t to);

/// Captures the work of `enqueue`.
cudaGraph_t captured(cudaStream_t stream, const std::function<void()>& enqueue);
/// Instantiates and uploads a graph.
cudaGraphExec_t executable(cudaGraph_t graph, cudaStream_t stream);

/// The host's steady clock.
double now_us();

/// Each enqueues a kernel: an empty one; one that is busy for a given time; one that writes the
/// first `count` changes of %globaltimer.
void enqueue_empty(cudaStream_t stream);
void enqueue_busy(cudaStream_t stream, long long nanoseconds);
void enqueue_timer_changes(cudaStream_t stream, long long* to, int count);

void probe_ticks();
void probe_drift();
void probe_record_nodes();
void probe_negative_times();
void probe_disturbed_capture();
void probe_host_functions();
void probe_callback_stack();
void probe_switches();
void probe_libraries();

}  // namespace gpu_probe
