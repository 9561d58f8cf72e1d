// The `cuda` device as a subject of the conformance suite, on a GPU.
//
// A kernel that fails takes the whole process's use of the GPU with it. So each failure test must
// run in a process of its own, as under ctest, which runs every test alone; after the first one a
// whole run of the program by hand fails.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/conformance/subject.hpp"

namespace graphline::conformance {
namespace {

/// What a gate's kernel and the host tell each other, in pinned memory.
struct gate_state {
  int opened;
  int reached;
  int arrived;  // blocks
};

/// A gate that nobody opens must not hang the machine.
constexpr unsigned long long patience = 20'000'000'000;  // ns

/// Divides the most threads that a multiprocessor holds on every architecture from 7.5 on, so that
/// blocks of it fill one to the last thread.
constexpr int gate_threads = 512;

__device__ unsigned long long device_now() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void add_one(int* counter) {
  atomicAdd(counter, 1);
}

__global__ void busy(unsigned long long ns) {
  const unsigned long long begin = device_now();
  while (device_now() - begin < ns) {
  }
}

__global__ void __launch_bounds__(gate_threads) hold(gate_state* state) {
  if (threadIdx.x == 0) {
    if (atomicAdd(&state->arrived, 1) == static_cast<int>(gridDim.x) - 1) {
      *static_cast<volatile int*>(&state->reached) = 1;
      __threadfence_system();
    }
    const unsigned long long begin = device_now();
    while (*static_cast<volatile int*>(&state->opened) == 0 && device_now() - begin < patience) {
      __nanosleep(1000);
    }
  }
  __syncthreads();  // the other threads keep their places meanwhile
}

__global__ void fail() {
  __trap();
}

class gpu_gate final : public gate {
 public:
  explicit gpu_gate(gate_state& state) : state_(state) {}
  ~gpu_gate() override { open(); }

  void open() override { std::atomic_ref(state_.opened).store(1); }
  bool reached() const override {
    return std::atomic_ref(state_.reached).load() != 0 &&
           std::atomic_ref(state_.opened).load() == 0;
  }

 private:
  gate_state& state_;
};

class gpu_subject final : public subject {
 public:
  gpu_subject() {
    // Kernels are loaded at their first use, which may wait for the device: behind a gate, for
    // ever.
    load(reinterpret_cast<const void*>(&add_one));
    load(reinterpret_cast<const void*>(&busy));
    load(reinterpret_cast<const void*>(&hold));
    load(reinterpret_cast<const void*>(&fail));
    const int multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold, gate_threads, 0),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "kernel 'hold'");
    if (blocks * gate_threads != attribute(cudaDevAttrMaxThreadsPerMultiProcessor)) {
      throw run_error("the gate's kernel leaves room beside it; give it another gate_threads");
    }
    gate_blocks_ = blocks * multiprocessors;
    for (int i = 0; i < most_gates; ++i) *gate_at(i) = {};
  }

  device& dev() override { return *device_; }

  void enqueue_add_one(stream& s, void* counter) override {
    launch(s, 1, 1, "add_one", &add_one, static_cast<int*>(counter));
  }

  void enqueue_busy(stream& s, std::int64_t microseconds) override {
    launch(s, 1, 1, "busy", &busy, static_cast<unsigned long long>(microseconds) * 1000);
  }

  /// Fills every multiprocessor, so that no other kernel finds a place. Copies still go on.
  std::unique_ptr<gate> enqueue_gate(stream& s) override {
    static const bool turn = wait_for_turn();
    if (!turn) throw run_error("cannot lock graphline_gates in the folder for temporary files");
    if (gates_ == most_gates) throw run_error("too many gates in one test; raise most_gates");
    gate_state* const state = gate_at(gates_++);
    launch(s, gate_blocks_, gate_threads, "hold", &hold, state);
    return std::make_unique<gpu_gate>(*state);
  }

  void enqueue_failure(stream& s) override { launch(s, 1, 1, "fail", &fail); }

  /// Of __trap().
  std::string failure_text() const override { return "cudaErrorLaunchFailure"; }

  bool does_one_thing_at_a_time() const override { return false; }

 private:
  static constexpr int most_gates = 64;

  /// Until this process ends, gates of other test processes wait: tests run side by side on one
  /// GPU, and two gates would each hold it half of the time.
  static bool wait_for_turn() {
    const auto path =
        std::filesystem::temp_directory_path() / ("graphline_gates_" + std::to_string(getuid()));
    const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    return file >= 0 && flock(file, LOCK_EX) == 0;
  }

  static int attribute(cudaDeviceAttr which) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute", "device cuda:0");
    return value;
  }

  static void load(const void* kernel) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes", "a kernel");
  }

  /// On a device that has failed a launch fails too, and it is the waits that have to tell. Asks
  /// for this launch's own status: the last error may be an earlier query's cudaErrorNotReady.
  template <class... Parameters>
  static void launch(stream& s, int blocks, int threads, const char* name,
                     void (*kernel)(Parameters...), Parameters... parameters) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = static_cast<cudaStream_t>(s.native());
    const cudaError_t status = cudaLaunchKernelEx(&config, kernel, parameters...);
    if (status != cudaErrorLaunchFailure) check_cuda(status, "cudaLaunchKernelEx", name);
  }

  gate_state* gate_at(int i) const { return static_cast<gate_state*>(states_.data()) + i; }

  std::unique_ptr<device> device_ = open_cuda_device(0);
  memory states_ = device_->allocate_pinned(most_gates * sizeof(gate_state));
  int gates_ = 0;
  int gate_blocks_ = 0;
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return std::make_unique<gpu_subject>();
}

}  // namespace graphline::conformance
