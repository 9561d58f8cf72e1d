#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/random.hpp"
#include "framework/plan/experiment_plan.hpp"

namespace graphline {

std::set<std::string> data_files(const plan& p) {
  std::set<std::string> paths;
  for (const planned_tensor& tensor : p.tensors) {
    if (!tensor.file.empty()) paths.insert(tensor.file);
  }
  if (p.arrivals != nullptr) paths.insert(*p.run.arrival_file);
  for (const planned_stage& stage : p.stages) {
    if (!stage.kind->origin.empty()) paths.insert(stage.kind->origin);
    for (const parameter& of : stage.kind->parameters) {
      if (of.type != parameter_type::path || !stage.config.arguments.has(of.name)) continue;
      paths.insert(stage.config.arguments.text(of.name));
    }
  }
  return paths;
}

std::set<std::string> data_files(const experiment_plan& planned) {
  std::set<std::string> paths;
  for (const auto& configuration : planned.configurations) {
    for (const plan& member : configuration.members) paths.merge(data_files(member));
  }
  return paths;
}

namespace {

namespace fs = std::filesystem;

std::string in_digits(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

/// Reads block by block, because a weights file may be large.
std::string checksum_of_file(const fs::path& path) {
  std::error_code unknown;  // a plug-in may read a device file
  if (!fs::is_regular_file(path, unknown)) return "not there";
  std::ifstream file(path, std::ios::binary);
  if (!file) return "not there";
  std::uint64_t checksum = 0;
  std::string block(std::size_t{1} << 20, '\0');
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    checksum = mix_seed(checksum, seed_from(std::string_view(block).substr(0, count)));
  } while (file);
  return in_digits(checksum);
}

std::string checksum_of_folder(const fs::path& path) {
  std::set<std::string> entries;
  std::error_code problem;
  for (fs::directory_iterator at(path, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code no_size;  // for a folder in it
    const auto size = at->file_size(no_size);
    entries.insert(fmt::format("{} {}", at->path().filename().string(), no_size ? 0 : size));
  }
  if (problem) return "not there";
  std::uint64_t checksum = 0;
  for (const auto& entry : entries) checksum = mix_seed(checksum, seed_from(entry));
  return in_digits(checksum);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> checksums_of(const std::set<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> checksums;
  for (const auto& path : paths) {
    std::error_code ignored;
    checksums.emplace_back(
        path, fs::is_directory(path, ignored) ? checksum_of_folder(path) : checksum_of_file(path));
  }
  return checksums;
}

}  // namespace graphline
