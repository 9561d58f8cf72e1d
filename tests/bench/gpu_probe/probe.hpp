#pragma once

// What the probes share. Each probe is run in a process of its own and leaves it to the end of that
// process to free what it made.

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

namespace gpu_probe {

/// Prints one fact as a line of JSON, at once: a later crash takes none of those before.
void tell(const std::string& fact, double value, const std::string& unit);
void tell(const std::string& fact, const std::string& text);

/// Throws `graphline::cuda_error` unless it is cudaSuccess.
void check(cudaError_t status, const char* call);

/// "cudaSuccess", "cudaErrorStreamCaptureUnjoined (904)".
std::string status_text(cudaError_t status);

cudaStream_t make_stream();
cudaEvent_t make_event(unsigned flags = cudaEventDefault);
void record(cudaEvent_t event, cudaStream_t stream);
/// As a node of the graph that is being captured, which stamps at every launch.
void record_in_graph(cudaEvent_t event, cudaStream_t stream);
/// What the stream is given from now on waits for what the other one has been given.
void join(cudaStream_t stream, cudaStream_t other);
/// Asks once. That it was not yet done is no error that a later call would find.
bool is_done(cudaEvent_t event);
/// From one event to another that the host need not have waited for.
double microseconds(cudaEvent_t from, cudaEvent_t to);

/// The graph of what `enqueue` gives the stream.
cudaGraph_t captured(cudaStream_t stream, const std::function<void()>& enqueue);
/// Ready to be launched, and uploaded.
cudaGraphExec_t executable(cudaGraph_t graph, cudaStream_t stream);

/// Of the host's steady clock.
double now_us();

/// Enqueue one kernel each: one that does nothing; one that is busy for so long;
/// one that writes the first `count` changes of %globaltimer.
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
void probe_libraries();

}  // namespace gpu_probe
