// Hands the files of folders to a target, one by one, where there is no libFuzzer: inputs that
// broke it once are tried in every build.

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/fuzz/target.hpp"

namespace {

// Same limits as tools/fuzz.
constexpr std::chrono::seconds most_time{10};
constexpr long most_memory = 1L << 20;  // KiB

bool replay(const std::filesystem::path& path) {
  std::cout << path.native() << std::endl;  // before it is tried: this line may be the last
  std::ifstream file(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  const auto begin = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  const bool in_time = std::chrono::steady_clock::now() - begin <= most_time;
  if (!in_time) std::cout << "  took longer than " << most_time.count() << " s\n";
  return in_time;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  bool well = true;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) continue;  // of a target in which nothing was found yet
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      well = replay(entry.path()) && well;
      ++inputs;
    }
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (used.ru_maxrss > most_memory) {
    std::cout << "the inputs took " << (used.ru_maxrss >> 10) << " MiB\n";
    well = false;
  }
  std::cout << inputs << " inputs\n";
  return well && inputs > 0 ? 0 : 1;
}
