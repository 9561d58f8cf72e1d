#pragma once

namespace graphline {

/// Tells the core that this is a polling loop, so that it saves power and leaves its sibling room.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace graphline
