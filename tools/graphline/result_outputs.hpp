#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/report/file/output_file.hpp"

namespace graphline {

/// Where a command's results go: opened before there is a result, so that a path that cannot be
/// written is found then; at most one of them standard output. What can be written is written
/// whatever became of the others, and the first problem told last.
class result_outputs {
 public:
  /// Opens `path` for what `option` asks for ("--json"); nothing where it is empty. `beginning`,
  /// `expected_bytes`: as `output_file` takes them. Throws an `input_error` where another result
  /// goes to the same place, or that place cannot be written.
  void open(std::string_view option, const std::string& path, std::string_view beginning,
            std::uint64_t expected_bytes = 0);

  bool empty() const noexcept { return results_.empty(); }

  /// Where what is for people goes: standard error where a result takes standard output.
  std::FILE* for_people() const;

  /// Prints there.
  void show(const std::string& text);

  /// Carries out a step. An `error` it throws is kept for `finish`.
  void attempt(const std::function<void()>& step);

  /// Writes what `make` answers to where `option` was opened for; makes nothing where it was not.
  /// Once only for each option: the text is gone before the next one is made.
  void write(std::string_view option, const std::function<std::string()>& make);

  /// Throws the first problem, if there was one.
  void finish() const;

 private:
  struct result {
    std::string option;
    output_file file;
  };

  std::vector<result> results_;
  std::exception_ptr problem_;  ///< the first
};

}  // namespace graphline
