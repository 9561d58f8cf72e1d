// The fake of the CUDA runtime, held to CUDA's rules for captures and graphs.

#include <algorithm>
#include <string>

#include "tests/device/cuda/fake_fixture.hpp"

namespace fake_cuda {
namespace {

class fake_cuda_capture : public fake_test {
 protected:
  void SetUp() override {
    fake_test::SetUp();
    s = make_stream();
    side = make_stream();
    e = make_event();
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    ASSERT_EQ(cudaStreamBeginCapture(s, mode), cudaSuccess);
  }

  /// How the capture ends; leaves no graph.
  cudaError_t ended() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(s, &graph);
    EXPECT_EQ(graph == nullptr, status != cudaSuccess);
    if (graph != nullptr) {
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    return status;
  }

  cudaGraph_t graph() {
    cudaGraph_t made = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(s, &made), cudaSuccess);
    return made;
  }

  static cudaGraphExec_t instantiate(cudaGraph_t g) {
    cudaGraphExec_t made = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&made, g, 0), cudaSuccess);
    return made;
  }

  cudaStream_t s = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t e = nullptr;
  int counter = 0;
};

TEST_F(fake_cuda_capture, is_ended_where_and_by_whom_it_was_begun) {
  cudaGraph_t g = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(s, &g), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  std::thread([&] {
    EXPECT_EQ(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureWrongThread);
  }).join();
  ASSERT_EQ(cudaEventRecord(e, s), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, e, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(side, &g), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(fake_cuda_capture, is_broken_by_allocating_and_by_waiting_for_the_device) {
  void* data = nullptr;
  begin();
  EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(add(s, &counter), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&data, 1), cudaSuccess);
  EXPECT_EQ(ended(), cudaSuccess);
  EXPECT_EQ(live().graphs, 0);
}

TEST_F(fake_cuda_capture, minds_other_threads_as_its_mode_says) {
  const auto query_elsewhere = [&] {
    cudaError_t status = cudaSuccess;
    std::thread([&] { status = cudaEventQuery(e); }).join();
    return status;
  };
  begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(query_elsewhere(), cudaSuccess);
  EXPECT_EQ(ended(), cudaSuccess);
  begin(cudaStreamCaptureModeGlobal);
  EXPECT_EQ(query_elsewhere(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
  begin(cudaStreamCaptureModeThreadLocal);
  std::thread([] { EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported); }).join();
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(fake_cuda_capture, leaves_events_that_cannot_be_asked) {
  begin();
  ASSERT_EQ(cudaEventRecord(e, s), cudaSuccess);
  EXPECT_EQ(ended(), cudaSuccess);
  float ms = 0;
  EXPECT_EQ(cudaEventQuery(e), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventSynchronize(e), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventElapsedTime(&ms, e, e), cudaErrorCapturedEvent);
  ASSERT_EQ(cudaEventRecord(e, s), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(e), cudaSuccess);
}

TEST_F(fake_cuda_capture, depends_on_nothing_outside_it) {
  ASSERT_EQ(cudaEventRecord(e, side), cudaSuccess);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(s, e, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(ended(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(fake_cuda_capture, takes_no_pageable_memory) {
  char* const device = make_device<char>(8);
  char* const pinned = make_pinned<char>(8);
  char pageable[8] = {};
  begin();
  EXPECT_EQ(cudaMemcpyAsync(device, pinned, 8, cudaMemcpyDefault, s), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(device, pageable, 8, cudaMemcpyDefault, s), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphDestroy(graph()), cudaSuccess);
}

TEST_F(fake_cuda_capture, stamps_external_recordings_at_each_launch) {
  const cudaEvent_t end = make_event();
  EXPECT_EQ(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal), cudaErrorInvalidValue);
  begin();
  ASSERT_EQ(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal), cudaSuccess);
  ASSERT_EQ(add(s, &counter), cudaSuccess);
  ASSERT_EQ(cudaEventRecordWithFlags(end, s, cudaEventRecordExternal), cudaSuccess);
  const cudaGraphExec_t exec = instantiate(graph());
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, e, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaGraphLaunch(exec, s), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(counter, 1);
  EXPECT_EQ(cudaEventElapsedTime(&ms, e, end), cudaSuccess);
  EXPECT_GE(ms, 0);
  ASSERT_EQ(cudaEventDestroy(end), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, s), cudaErrorInvalidResourceHandle);  // it needs its events
}

TEST_F(fake_cuda_capture, of_a_launch_is_a_child_graph) {
  begin();
  ASSERT_EQ(add(s, &counter), cudaSuccess);
  const cudaGraphExec_t inner = instantiate(graph());
  begin();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(inner, s), cudaSuccess);
  const cudaGraph_t g = graph();
  cudaGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  ASSERT_EQ(cudaGraphGetNodes(g, nodes, &count), cudaSuccess);
  cudaGraph_t child = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(nodes[0], &child), cudaSuccess);
  ASSERT_EQ(cudaGraphGetNodes(child, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1U);
  ASSERT_EQ(cudaGraphLaunch(instantiate(g), s), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(counter, 2);
}

}  // namespace
}  // namespace fake_cuda
