#include "framework/base/text_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

constexpr std::string_view lfs_first_line = "version https://git-lfs.github.com/spec/v1\n";
constexpr std::string_view lfs_problem = "is a Git LFS pointer, not the file: run git lfs pull";

[[noreturn]] void refuse(const std::string& path, std::string why) {
  throw unreadable_file(path, std::move(why));
}

}  // namespace

unreadable_file::unreadable_file(const std::string& path, std::string why)
    : input_error(
          diagnostic{severity::error, {std::make_shared<source_text>(path, "")}, why}.render()),
      reason_(std::move(why)) {}

unreadable_file::unreadable_file(const diagnostic& problem)
    : input_error(problem.render()), reason_(problem.message) {
  const auto& at = problem.place;
  if (at.line > 0) reason_ += fmt::format(" (line {}, column {})", at.line, at.column);
}

std::shared_ptr<const source_text> read_text_file(const std::string& path, std::size_t largest,
                                                  named_by who) {
  std::error_code ignored;
  const auto found = fs::status(path, ignored);
  if (fs::is_directory(found)) refuse(path, "this is a folder; a file is expected");
  if (who == named_by::file && fs::exists(found) && !fs::is_regular_file(found)) {
    refuse(path, "this is not a regular file");
  }
  const std::unique_ptr<std::FILE, file_closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    const int code = errno;
    if (code == ENOENT) refuse(path, "there is no such file" + suggest_file(path));
    if (code == EACCES) refuse(path, "no permission to read it");
    refuse(path, "it cannot be opened: " + std::generic_category().message(code));
  }

  std::string text;
  std::array<char, 65536> block;
  std::size_t count = 0;
  while ((count = std::fread(block.data(), 1, block.size(), file.get())) > 0) {
    text.append(block.data(), count);
    // Checks the size while reading, because pipes and devices report none.
    if (text.size() > largest) {
      refuse(path, fmt::format("it is larger than {} MiB, the most that is read", largest >> 20));
    }
  }
  if (std::ferror(file.get()) != 0) {
    refuse(path, "it cannot be read: " + std::generic_category().message(errno));
  }
  auto source = std::make_shared<const source_text>(path, std::move(text));
  if (source->text().empty()) refuse(path, "the file is empty");
  if (source->text().starts_with(lfs_first_line)) refuse(path, fmt::format("this {}", lfs_problem));
  return source;
}

std::optional<std::string> lfs_pointer_problem(std::istream& file) {
  std::array<char, lfs_first_line.size()> begin{};
  file.read(begin.data(), begin.size());
  const auto count = static_cast<std::size_t>(file.gcount());
  file.clear();
  file.seekg(0);
  if (std::string_view(begin.data(), count) != lfs_first_line) return {};
  return std::string(lfs_problem);
}

binary_file open_binary_file(const std::string& path, std::string_view what) {
  const auto fail = [&](const std::string& message) {
    throw input_error(fmt::format("{} {} {}", what, quote(path, 200), message));
  };
  std::error_code problem;
  const auto found = fs::status(path, problem);
  if (found.type() == fs::file_type::not_found) fail("does not exist" + suggest_file(path));
  if (fs::exists(found) && !fs::is_regular_file(found)) fail("is not a regular file");
  errno = 0;
  binary_file file{std::ifstream(path, std::ios::binary)};
  if (!file.stream) fail("cannot be opened: " + std::generic_category().message(errno));
  file.size = fs::file_size(path, problem);
  if (problem) fail("cannot be read: " + problem.message());
  if (const auto pointer = lfs_pointer_problem(file.stream)) fail(*pointer);
  return file;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string suggest_file(const std::string& path) {
  constexpr std::size_t most_neighbors = 1000;  // limits the number of candidates
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(folder, ignored);
       entry != fs::directory_iterator() && names.size() < most_neighbors;
       entry.increment(ignored)) {
    if (entry->is_regular_file(ignored)) names.push_back(entry->path().filename().string());
  }
  // With 0, `suggestion` lists no files if no name is similar.
  return suggestion(wanted.filename().string(), names, 0);
}

}  // namespace graphline
