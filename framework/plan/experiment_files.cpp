#include "framework/plan/experiment_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/near_file.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline::planning {
namespace {

namespace fs = std::filesystem;

std::optional<std::vector<std::string>> declared_parameters(
    const std::shared_ptr<const source_text>& source) {
  diagnostics ignored;  // reading the pipeline itself says it
  const node document = read_yaml(source, ignored);
  if (!document.is_mapping()) return std::nullopt;
  std::vector<std::string> names;
  if (const node* section = document.find("params")) {
    for (const node::member& m : section->members()) names.push_back(m.key.text);
  }
  return names;
}

/// The file's text, or null after an error where it is named, so that all else is told too.
std::shared_ptr<const source_text> read(const std::string& full, const named& path,
                                        diagnostics& out) {
  try {
    return read_source(full);
  } catch (const input_error& problem) {
    // "PATH:LINE:COLUMN: error: WHY", the last two only where it is about a line, which follows.
    const std::string_view what = problem.what();
    const std::string_view said = what.substr(0, what.find('\n'));
    constexpr std::string_view mark = ": error: ";
    const auto at = said.find(mark);
    const std::string_view where = said.substr(0, at);
    out.error(path.place, fmt::format("{} cannot be read: {}{}", quote(path.text, 200),
                                      at == said.npos ? said : said.substr(at + mark.size()),
                                      where == printable(full) ? "" : fmt::format(" ({})", where)));
    return nullptr;
  }
}

}  // namespace

experiment_files::experiment_files(const experiment_spec& spec) : directory_(spec.directory) {
  if (spec.source) note(spec.source->name(), spec.source);
}

const pipeline_file* experiment_files::open(const named& path, diagnostics& out) {
  const fs::path full = (fs::path(directory_) / path.text).lexically_normal();
  const auto known = std::ranges::find(files_, full.string(), &pipeline_file::path);
  if (known != files_.end()) return &*known;

  std::error_code ignored;
  if (!fs::exists(full, ignored)) {
    const std::string looked_for =
        full.string() == path.text ? "" : ", looked for as " + quote(full.string(), 200);
    out.error(path.place, fmt::format("there is no pipeline file {}{}{}", quote(path.text, 200),
                                      looked_for, near_file(full.string())));
    return nullptr;
  }
  auto source = read(full.string(), path, out);
  if (!source) return nullptr;
  pipeline_file& file = files_.emplace_back();
  file.path = full.string();
  file.source = std::move(source);
  file.parameters = declared_parameters(file.source);
  note(path.text, file.source);
  return &file;
}

void experiment_files::note(const std::string& path, std::shared_ptr<const source_text> source) {
  checksums_.emplace_back(path, fmt::format("{:016x}", seed_from(source->text())));
  sources_.push_back(std::move(source));
}

}  // namespace graphline::planning
