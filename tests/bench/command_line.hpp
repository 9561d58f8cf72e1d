#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace graphline {

/// Hands the command line to Google Benchmark, for repetitions in random order, but for a word that
/// begins with `option` ("--batch="): that sets `value`, to at least 1. False where a word is
/// unknown, which has been told then.
inline bool read_command_line(int argc, char** argv, std::string_view option, std::int64_t& value) {
  std::vector<char*> words;
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(option)) {
      value = std::max<std::int64_t>(1, std::atoll(argv[i] + option.size()));
    } else {
      words.push_back(argv[i]);
    }
  }
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  words.push_back(interleave.data());
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, words.data());
  return !benchmark::ReportUnrecognizedArguments(count, words.data());
}

/// Keeps the repetitions of each benchmark for a table at the end.
class sample_reporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      std::string name = run.benchmark_name();
      name.resize(std::min(name.size(), name.find('/')));
      samples_[name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }

  void Finalize() override {
    for (auto& [name, seconds] : samples_) std::sort(seconds.begin(), seconds.end());
    print();
  }

 protected:
  virtual void print() const = 0;

  /// Of each name, in seconds, from the shortest on.
  const std::map<std::string, std::vector<double>>& samples() const { return samples_; }

 private:
  std::map<std::string, std::vector<double>> samples_;
};

}  // namespace graphline
