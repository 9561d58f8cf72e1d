#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "framework/base/crash_report.hpp"
#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// A file that a run's result will go to, opened before the run so that a path that cannot be
/// written is found then and not after it.
///
/// A regular file is written as a `part_file` next to it and takes its name in `commit`: a run that
/// fails leaves the previous result as it was. A run that is killed leaves its part, which the next
/// one removes. What cannot be renamed over (standard output, a pipe, a device) is written in
/// place.
class output_file {
 public:
  /// `path`: a file, or "-" for standard output.
  /// Throws `input_error` with path, reason and remedy: the folder is missing, the path is a
  /// folder, is not permitted, another run is writing it.
  explicit output_file(std::string path);

  /// Discards what was not committed.
  ~output_file();
  output_file(output_file&& other) noexcept;
  output_file& operator=(output_file&&) = delete;

  /// The path as it was given.
  const std::string& path() const noexcept { return path_; }

  /// True for "-" and "/dev/stdout": text for people then belongs on standard error.
  bool is_standard_output() const noexcept { return standard_output_; }

  /// Writes what `write` does and puts the file in its place. Once only. Throws `run_error` when
  /// writing fails, `output_closed` where it was standard output that nobody reads any more, and
  /// what `write` throws; the previous file is untouched then.
  void commit(const std::function<void(text_sink&)>& write);
  void commit(std::string_view text);

 private:
  void open_in_place();
  void open_beside();
  void put(std::string_view piece);
  [[noreturn]] void fail(int code) const;
  void discard() noexcept;

  std::string path_;
  std::string target_;  ///< what `path_` leads to when links are followed
  std::string part_;    ///< empty when written in place
  removed_on_crash part_on_crash_;
  int descriptor_ = -1;
  bool standard_output_ = false;
};

}  // namespace graphline
