#include "tools/graphline/result_outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

bool is_standard_output(const std::string& path) {
  return path == "-" || path == "/dev/stdout";
}

/// Returns a text that identifies a file, whatever its path.
std::string identity_of(const struct stat& file) {
  return fmt::format("{}:{}", file.st_dev, file.st_ino);
}

/// Identifies where a result goes: an existing file, or a name in a folder. Empty for pipes and
/// devices, which may receive several results.
std::string place_of(const std::string& path) {
  if (is_standard_output(path)) return "-";
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return S_ISREG(found.st_mode) ? identity_of(found) : "";
  const auto target = resolve_links(path);
  if (::stat(folder_of(target).c_str(), &found) != 0) return target;
  return identity_of(found) + "/" + std::filesystem::path(target).filename().string();
}

/// Returns the identity of the file that a standard stream is redirected to; else empty.
std::string place_of_stream(int descriptor) {
  struct stat found {};
  const bool file = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  return file ? identity_of(found) : "";
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
  std::set<std::string> taken;
  for (const auto& path : read) taken.insert(place_of(path));
  const std::string streams[] = {place_of_stream(STDOUT_FILENO), place_of_stream(STDERR_FILENO)};
  for (const auto& [option, path] : requested.all()) {
    if (path.empty()) continue;
    const auto place = place_of(path);
    if (place.empty()) continue;
    if (std::ranges::find(streams, place) != std::end(streams)) {
      throw input_error(
          fmt::format("{} {}: standard output or standard error goes there; name another file",
                      option, quote(path, 200)));
    }
    if (!taken.insert(place).second) {
      throw input_error(fmt::format(
          "{} {}: another result goes there, or this command reads it; name another file", option,
          quote(path, 200)));
    }
  }
  for (const auto& [option, path] : requested.all()) {
    if (!path.empty()) results_.push_back({std::string(option), output_file(path)});
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
                                stream == stderr ? "error" : "output", errno_text(errno)));
  });
}

void result_outputs::show(const report::document& document, bool quiet) {
  if (quiet) return print_findings(document.findings);
  show(report::as_text(document, style_of(for_people())));
}

void result_outputs::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const output_closed&) {  // other results are still written
    closed_ = true;
  } catch (const std::exception&) {  // for example, out of memory; other results may succeed
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
