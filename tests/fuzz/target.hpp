#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <string>

#include "tests/base/temporary_folder.hpp"

// A target hands an input, whatever its bytes are, to the functions that the program hands a file
// to. clang's libFuzzer calls it with inputs that it makes (https://llvm.org/docs/LibFuzzer.html),
// replay.cpp with those of files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace graphline::fuzz {

/// Writes an input to a file.
inline void write(const std::string& path, const std::uint8_t* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

/// Calls the reader of an input. It may throw only a `Refusal`, a documented error with a message;
/// other exceptions propagate and end the run.
template <class Refusal, class Function>
void read_or_refuse(Function&& read) {
  try {
    read();
  } catch (const Refusal& refusal) {
    if (*refusal.what() != '\0') return;
    std::cerr << "an input was refused without a word\n";
    std::abort();
  }
}

}  // namespace graphline::fuzz
