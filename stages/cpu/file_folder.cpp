#include "stages/cpu/file_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

std::string lower_case_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

/// @throws input_error if the folder cannot be read or has no such file
std::vector<std::string> list_files(const std::string& folder,
                                    std::initializer_list<std::string_view> endings) {
  std::error_code failure;
  std::vector<std::string> files;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    std::error_code unknown;  // ignored: a link to a missing file is skipped
    if (entry->is_regular_file(unknown) &&
        std::ranges::count(endings, lower_case_ending(entry->path())) > 0) {
      files.push_back(entry->path().string());
    }
  }
  if (failure) {
    throw input_error(fmt::format("cannot read the folder '{}': {}", folder, failure.message()));
  }
  if (files.empty()) {
    throw input_error(
        fmt::format("the folder '{}' holds no {} file", folder, fmt::join(endings, " or ")));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

parameter folder_parameter(std::string_view files) {
  return {.name = "folder",
          .type = parameter_type::path,
          .help = fmt::format(
              "Folder of {}; they are read in the order of their names, over and over.", files),
          .required = true};
}

parameter batch_parameter() {
  return {.name = "batch",
          .help =
              "Files per frame, stacked along a new first axis. By default, one file without that "
              "axis.",
          .minimum = 1,
          .maximum = 65536};
}

opened_stage open_batch(const arguments& given, std::initializer_list<const char*> outputs,
                        prepare_function prepare) {
  opened_stage opened{.ports = {}, .prepare = std::move(prepare)};
  for (const char* name : outputs) opened.ports.outputs.push_back({name, "", given.has("batch")});
  return opened;
}

std::vector<std::string> files_of_folder(const arguments& given,
                                         std::initializer_list<std::string_view> endings,
                                         const std::function<void(const std::string&)>& check,
                                         diagnostics& out) {
  try {
    std::vector<std::string> files = list_files(given.text("folder"), endings);
    for (const std::string& file : files) check(file);
    return files;
  } catch (const error& problem) {
    out.error(given.where("folder"), problem.what());
    return {};
  }
}

std::size_t first_file(const cpu_call& call, std::size_t count) {
  const auto frames = static_cast<std::size_t>(call.frames);
  if (count % frames != 0) {
    throw run_error(
        fmt::format("{} frames run together, which do not share {} files evenly; give "
                    "the stage the 'rows' that cpu.batch writes",
                    frames, count));
  }
  return static_cast<std::size_t>(call.frame) * (count / frames);
}

}  // namespace graphline
