#include "tools/graphline/result_outputs.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/write_result.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

bool is_standard_output(const std::string& path) {
  return path == "-" || path == "/dev/stdout";
}

/// Whether two results at these paths would take each other's place. What is no regular file takes
/// any number of texts.
bool same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  if (is_standard_output(one) || is_standard_output(other)) return false;
  std::error_code unknown;
  const auto first = fs::weakly_canonical(one, unknown);
  if (unknown) return one == other;
  const auto second = fs::weakly_canonical(other, unknown);
  if (unknown || first != second) return false;
  return !fs::exists(first, unknown) || fs::is_regular_file(first, unknown);
}

void refuse_same_place(const requested_output& one, const requested_output& other) {
  if (is_standard_output(one.path) && is_standard_output(other.path)) {
    throw input_error(fmt::format("{} {} and {} {}: only one result can go to standard output",
                                  one.option, one.path, other.option, other.path));
  }
  if (same_file(one.path, other.path)) {
    throw input_error(
        fmt::format("{} {} and {} {}: only one result can go to a file; name another one",
                    one.option, quote(one.path, 200), other.option, quote(other.path, 200)));
  }
}

/// What somebody wrote, or measured, and a slip on the command line must not cost.
void refuse_to_replace(const std::vector<std::string>& read, const requested_output& one) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (is_standard_output(one.path) || !fs::is_regular_file(one.path, unknown)) return;
  for (const auto& path : read) {
    if (!fs::equivalent(one.path, path, unknown)) continue;
    throw input_error(fmt::format("{} {}: this command reads it; name another file", one.option,
                                  quote(one.path, 200)));
  }
}

}  // namespace

CLI::Option* result_files::add(CLI::App& command, std::string_view option,
                               const std::string& help) {
  auto& added = all_.emplace_back(requested_output{option, {}});
  return command.add_option(std::string(option), added.path, help)->type_name("FILE");
}

void result_files::add_json(CLI::App& command, const std::string& help) {
  add(command, "--json", help);
}

void result_files::add_html(CLI::App& command, const std::string& help) {
  add(command, "--html", help);
}

void result_files::add_markdown(CLI::App& command, const std::string& help) {
  add(command, "--markdown", help);
}

const std::string& result_files::path(std::string_view option) const {
  return std::ranges::find(all_, option, &requested_output::option)->path;
}

result_outputs::result_outputs(const result_files& requested,
                               const std::vector<std::string>& read) {
  const auto& all = requested.all();
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (!one->path.empty()) refuse_to_replace(read, *one);
    for (auto other = std::next(one); other != all.end(); ++other) {
      if (!one->path.empty() && !other->path.empty()) refuse_same_place(*one, *other);
    }
  }
  for (const auto& [option, path] : all) {
    if (path.empty()) continue;
    results_.push_back({std::string(option), output_file(path)});
  }
}

std::FILE* result_outputs::for_people() const {
  const bool taken = std::any_of(results_.begin(), results_.end(),
                                 [](const result& r) { return r.file.is_standard_output(); });
  return taken ? stderr : stdout;
}

void result_outputs::show(const std::string& text) {
  std::FILE* const stream = for_people();
  attempt([&] {
    print(stream, text);
    if (std::ferror(stream) == 0 && std::fflush(stream) == 0) return;
    if (errno == EPIPE && stream == stdout) throw output_closed();
    throw run_error(fmt::format("cannot write to standard {}: {}",
                                stream == stderr ? "error" : "output", reason(errno)));
  });
}

void result_outputs::show(const report::document& document) {
  show(report::as_text(document, style_of(for_people())));
}

void result_outputs::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const output_closed&) {  // what goes to files is written all the same
    closed_ = true;
  } catch (const std::exception&) {  // too little memory for one text is no reason to lose others
    if (!problem_) problem_ = std::current_exception();
  }
}

void result_outputs::write(std::string_view option, const std::function<void(text_sink&)>& text) {
  for (auto& to : results_) {
    if (to.option != option || std::exchange(to.written, true)) continue;
    attempt([&] { to.file.commit(text); });
  }
}

void result_outputs::write(const report::document& document) {
  write("--html", [&](text_sink& to) { to.append(report::as_html(document)); });
  write("--csv", [&](text_sink& to) { to.append(report::as_csv(document)); });
  write("--markdown", [&](text_sink& to) { to.append(report::as_markdown(document)); });
}

void result_outputs::finish() const {
  if (problem_) std::rethrow_exception(problem_);
  if (closed_) throw output_closed();
}

}  // namespace graphline
