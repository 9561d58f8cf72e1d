#include "framework/base/file/unfinished_files.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>

namespace graphline {
namespace {

struct entry {
  std::string path;
  std::atomic<bool> unfinished{true};
  entry* next = nullptr;
};
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<entry*>::is_always_lock_free);

std::atomic<entry*> newest{nullptr};
std::mutex adding;

entry* find(const std::string& path) noexcept {
  entry* at = newest.load(std::memory_order_acquire);
  while (at != nullptr && at->path != path) at = at->next;
  return at;
}

}  // namespace

void note_unfinished(const std::string& path) {
  const std::lock_guard lock(adding);
  if (entry* known = find(path)) {
    known->unfinished.store(true, std::memory_order_release);
    return;
  }
  auto made = std::make_unique<entry>();
  made->path = path;
  made->next = newest.load(std::memory_order_relaxed);
  newest.store(made.release(), std::memory_order_release);
}

signals_held::signals_held() noexcept {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held, signal);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

signals_held::~signals_held() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void note_finished(const std::string& path) noexcept {
  if (entry* known = find(path)) known->unfinished.store(false, std::memory_order_release);
}

void remove_unfinished() noexcept {
  const int kept = errno;
  for (entry* at = newest.load(std::memory_order_acquire); at != nullptr; at = at->next) {
    // What is gone already, or cannot be removed, is no reason to leave the others.
    if (at->unfinished.load(std::memory_order_acquire)) ::unlink(at->path.c_str());
  }
  errno = kept;
}

}  // namespace graphline
