// Preloaded into a program (LD_PRELOAD), makes one of its calls fail as the system may.
//
//   FAULT_CALL   which: memory, write, open, read, fsync, close, rename, ftruncate or thread
//   FAULT_NTH    which of these since main began, from 1; 0 for none
//   FAULT_AFTER  set: all later ones fail too
//   FAULT_COUNT  a file to write the number of these calls to
//
// After a crash it prints the libraries on the call stack to standard error.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Alternative names of the C library's allocator: looking up the usual ones would allocate.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

using main_function = int (*)(int, char**, char**);

main_function program = nullptr;
std::atomic<bool> begun{false};
std::atomic<long> calls{0};
const char* call = "";
long nth = 0;
bool after = false;

/// Whether this call must fail.
bool fails(const char* kind) noexcept {
  if (!begun.load(std::memory_order_relaxed) || std::strcmp(call, kind) != 0) return false;
  const long number = calls.fetch_add(1) + 1;
  return nth > 0 && (number == nth || (after && number > nth));
}

template <class Function>
Function* next(Function*, const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

#define NEXT(name) next(&::name, #name)

void tell_count() {
  begun = false;
  const char* to = std::getenv("FAULT_COUNT");
  if (to == nullptr) return;
  if (std::FILE* file = std::fopen(to, "w")) {
    std::fprintf(file, "%ld\n", calls.load());
    std::fclose(file);
  }
}

void tell_crash(int signal) {
  begun = false;
  void* frames[32];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 32), STDERR_FILENO);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

int counted_main(int argc, char** argv, char** environment) {
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // the first call allocates
  ::signal(SIGSEGV, tell_crash);
  ::signal(SIGABRT, tell_crash);
  if (const char* which = std::getenv("FAULT_CALL")) call = which;
  if (const char* number = std::getenv("FAULT_NTH")) nth = std::atol(number);
  after = std::getenv("FAULT_AFTER") != nullptr;
  std::atexit(tell_count);
  begun = true;
  return program(argc, argv, environment);
}

template <class Result>
Result failed(int code, Result result) noexcept {
  errno = code;
  return result;
}

}  // namespace

extern "C" {

int __libc_start_main(main_function main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using start_function = int(main_function, int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* start = reinterpret_cast<start_function*>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  program = main;
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t size) {
  return fails("memory") ? failed<void*>(ENOMEM, nullptr) : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  return fails("memory") ? failed<void*>(ENOMEM, nullptr) : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  return fails("memory") ? failed<void*>(ENOMEM, nullptr) : __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails("memory") ? failed<void*>(ENOMEM, nullptr) : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  if (fails("memory")) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

ssize_t write(int descriptor, const void* from, std::size_t bytes) {
  static auto* const real = NEXT(write);
  return fails("write") ? failed<ssize_t>(ENOSPC, -1) : real(descriptor, from, bytes);
}

ssize_t read(int descriptor, void* to, std::size_t bytes) {
  static auto* const real = NEXT(read);
  return fails("read") ? failed<ssize_t>(EIO, -1) : real(descriptor, to, bytes);
}

int open(const char* path, int flags, ...) {
  static auto* const real = NEXT(open);
  std::va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : mode_t{0};
  va_end(rest);
  return fails("open") ? failed(EMFILE, -1) : real(path, flags, mode);
}

std::FILE* fopen(const char* path, const char* mode) {
  static auto* const real = NEXT(fopen);
  return fails("open") ? failed<std::FILE*>(EMFILE, nullptr) : real(path, mode);
}

std::FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = NEXT(fopen64);
  return fails("open") ? failed<std::FILE*>(EMFILE, nullptr) : real(path, mode);
}

int fsync(int descriptor) {
  static auto* const real = NEXT(fsync);
  return fails("fsync") ? failed(EIO, -1) : real(descriptor);
}

int fdatasync(int descriptor) {
  static auto* const real = NEXT(fdatasync);
  return fails("fsync") ? failed(EIO, -1) : real(descriptor);
}

int close(int descriptor) {
  static auto* const real = NEXT(close);
  const int result = real(descriptor);
  return fails("close") ? failed(EIO, -1) : result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = NEXT(rename);
  return fails("rename") ? failed(EACCES, -1) : real(from, to);
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const real = NEXT(ftruncate);
  return fails("ftruncate") ? failed(EIO, -1) : real(descriptor, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) noexcept {
  static auto* const real = NEXT(pthread_create);
  return fails("thread") ? EAGAIN : real(thread, attributes, work, argument);
}

}  // extern "C"
