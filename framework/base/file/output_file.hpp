#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "framework/base/crash_report.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// A result file, opened before the run so that an unwritable path fails early.
///
/// A regular file is first written under a temporary name, ".NAME.graphline-XXXXXX" in the same
/// folder. `commit` renames it, so that a failed run leaves the previous result unchanged. The next
/// run with the same path removes temporary files of killed runs. Standard output, pipes and
/// devices are written in place.
class output_file {
 public:
  /// `path` is a file, or "-" for standard output.
  /// @throws input_error with path, reason and remedy if the file cannot be written, has the name
  /// of a temporary file, or is being written by another run.
  explicit output_file(std::string path);

  /// Removes the temporary file unless it was committed.
  ~output_file();
  output_file(output_file&& other) noexcept;
  output_file& operator=(output_file&&) = delete;

  const std::string& path() const noexcept { return path_; }

  /// True for "-" and "/dev/stdout". Text for people must then go to standard error.
  bool is_standard_output() const noexcept { return standard_output_; }

  /// Writes the output of `write` and renames the file. Call it once.
  /// @throws run_error if writing fails, output_closed if the reader has closed standard output, or
  /// an exception of `write`. A previous regular file is then unchanged.
  void commit(const std::function<void(text_sink&)>& write);
  void commit(std::string_view text);

 private:
  void open_in_place();
  void open_beside();
  void put(std::string_view piece);
  [[noreturn]] void fail(int code) const;
  void discard() noexcept;

  std::string path_;
  std::string target_;  ///< `path_` with links resolved
  std::string part_;    ///< the temporary file; empty if written in place
  removed_on_crash part_on_crash_;
  int descriptor_ = -1;
  bool standard_output_ = false;
};

}  // namespace graphline
