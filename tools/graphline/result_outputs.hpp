#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/file/output_file.hpp"
#include "framework/report/document.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace graphline {

/// A result that a command line asks for.
struct requested_output {
  std::string_view option;  ///< "--json"
  std::string path;         ///< as it was given; empty: not asked for
};

/// The files that a command writes its results to: an option for each.
class result_files {
 public:
  /// Adds an option that takes a file.
  CLI::Option* add(CLI::App& command, std::string_view option, const std::string& help);

  // Those that several commands have.
  void add_json(CLI::App& command,
                const std::string& help = "Write the result, every sample included");
  void add_html(CLI::App& command, const std::string& help = "Write a page for a browser");
  void add_markdown(CLI::App& command,
                    const std::string& help = "Write tables and findings for a pull request");

  /// What was given for an option: empty where nothing was.
  const std::string& path(std::string_view option) const;

  const std::list<requested_output>& all() const noexcept { return all_; }

 private:
  std::list<requested_output> all_;  ///< which does not move what it holds
};

/// Where a command's results go: opened before there is a result, so that a path that cannot be
/// written is found then; at most one of them standard output. What can be written is written
/// whatever became of the others, and the first problem told last; that nobody reads standard
/// output any more only where there is no other.
class result_outputs {
 public:
  /// Opens what is asked for. `read`: the files that the command reads. Throws an `input_error`
  /// where a result would take the place of one of them or of another result, or its place cannot
  /// be written, before anything is written.
  result_outputs(const result_files& requested, const std::vector<std::string>& read);

  bool empty() const noexcept { return results_.empty(); }

  /// Where what is for people goes: standard error where a result takes standard output.
  std::FILE* for_people() const;

  /// Prints there.
  void show(const std::string& text);
  void show(const report::document& document);

  /// Carries out a step. What it throws is kept for `finish`.
  void attempt(const std::function<void()>& step);

  /// Writes what `text` writes to where `option` says; asks for nothing where it was not given.
  /// Once only for each option: a further text is passed over.
  void write(std::string_view option, const std::function<void(text_sink&)>& text);

  /// Writes a document to --html, --csv and --markdown where these were given and are not written.
  void write(const report::document& document);

  /// Throws the first problem, if there was one, else `output_closed` where that happened.
  void finish() const;

 private:
  struct result {
    std::string option;
    output_file file;
    bool written = false;
  };

  std::vector<result> results_;
  std::exception_ptr problem_;  ///< the first
  bool closed_ = false;         ///< nobody reads standard output any more
};

}  // namespace graphline
