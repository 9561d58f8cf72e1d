#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/output_file.hpp"
#include "framework/report/document.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace graphline {

/// An option for a result file, for example --json.
struct requested_output {
  std::string_view option;
  std::string path;  ///< empty if not requested
};

/// The options of a command for result files.
class result_files {
 public:
  CLI::Option* add(CLI::App& command, std::string_view option, const std::string& help);

  void add_json(CLI::App& command,
                const std::string& help = "Write the result, every sample included");
  void add_html(CLI::App& command, const std::string& help = "Write a page for a browser");
  void add_markdown(CLI::App& command,
                    const std::string& help = "Write tables and findings for a pull request");

  /// Returns the path given for an option; empty if not requested.
  const std::string& path(std::string_view option) const;

  /// Requests no file.
  void clear() {
    for (requested_output& each : all_) each.path.clear();
  }

  const std::list<requested_output>& all() const noexcept { return all_; }

 private:
  std::list<requested_output> all_;  ///< a list, because CLI11 keeps references to its elements
};

/// The results of a command. Files are opened before the run, so that an unwritable path fails
/// early. If a result cannot be written, the others are still written. `finish` throws the first
/// failure. It reports a closed standard output only if there is no other failure.
class result_outputs {
 public:
  /// Opens the requested files. `read`: the files that the command reads.
  /// @throws input_error, before anything is written, if a file cannot be written, is one of
  /// `read`, or receives another result, standard output or standard error
  result_outputs(const result_files& requested, const std::vector<std::string>& read);

  bool empty() const noexcept { return results_.empty(); }

  /// Returns the stream for text that people read: stderr if a result goes to standard output.
  std::FILE* for_people() const;

  /// Prints text that people read.
  void show(const std::string& text);

  /// Prints a document. With `quiet`, prints only warnings and failures, to standard error.
  void show(const report::document& document, bool quiet = false);

  /// Runs a step. If the step throws, `finish` rethrows the exception.
  void attempt(const std::function<void()>& step);

  /// Writes the result of `option` if it is requested and not yet written.
  void write(std::string_view option, const std::function<void(text_sink&)>& text);

  /// Writes a document as --html, --csv and --markdown, if requested and not yet written.
  void write(const report::document& document);

  /// Throws the first failure. Throws `output_closed` if the only failure is a closed standard
  /// output.
  void finish() const;

 private:
  struct result {
    std::string option;
    output_file file;
    bool written = false;
  };

  std::vector<result> results_;
  std::exception_ptr problem_;
  bool closed_ = false;  ///< whether standard output is closed
};

inline exit_status exit_status_of(bool failed, bool interrupted) {
  if (failed) return exit_status::run_failed;
  return interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace graphline
