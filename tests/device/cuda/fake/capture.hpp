#pragma once

#include <cuda_runtime_api.h>

#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {

/// For calls that CUDA deems unsafe beside a capture, since they are not seen by it: refuses them
/// to a thread that captures, or while another captures globally, and invalidates these captures
/// (see cudaThreadExchangeStreamCaptureMode).
cudaError_t refuse_unsafe();

/// For calls that wait for all of a device: refuses them while anything is captured there.
cudaError_t refuse_while_captured(int device);

/// Whether something can be enqueued in or captured from a stream: it exists and its capture, if
/// any, is in order.
cudaError_t usable(cudaStream_t s);

/// As `usable`, for launches, which are for the current device only.
cudaError_t usable_for_launch(cudaStream_t s);

/// For calls that wait for an event: refuses and breaks the capture that it was recorded in.
cudaError_t refuse_captured(const CUevent_st& e);

/// Adds a node to the graph that a stream is captured into.
void capture_node(CUstream_st& s, const operation_ref& what);

/// The stream waits, in a capture or joining one, for an event.
cudaError_t capture_wait(CUstream_st& s, const CUevent_st& e);

}  // namespace fake_cuda
