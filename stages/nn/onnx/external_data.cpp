#include "stages/nn/onnx/external_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"

namespace graphline::nn {

namespace fs = std::filesystem;

std::string external_data::read(const entries& where, const onnx_tensor& tensor,
                                const std::string& subject) {
  const auto location = where.contains("location") ? where.at("location") : std::string();
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("ONNX file '{}' cannot be read: {} has its data in {}, {}",
                                  model_, subject, quote(location), why));
  };
  const fs::path inside(location);
  if (location.empty() || inside.is_absolute() ||
      std::ranges::find(inside, fs::path("..")) != inside.end()) {
    refuse("which is no path inside the model's folder; save the model again, with its data there");
  }
  std::error_code problem;
  const fs::path folder = fs::canonical(folder_of(model_), problem);
  const fs::path file = problem ? fs::path() : fs::canonical(folder / inside, problem);
  if (problem) refuse("which is not there: " + problem.message());
  // Caches of downloads keep both behind links, in one folder.
  const fs::path linked = fs::canonical(model_, problem).parent_path();
  const auto holds = [&](const fs::path& of) {
    return !of.empty() && std::ranges::mismatch(of, file).in1 == of.end();
  };
  if (!holds(folder) && !holds(linked)) {
    refuse("a link out of the model's folder; copy the file there");
  }
  auto [in, size] = open_binary_file(file, "data file");
  const auto number = [&](const char* key, std::uint64_t absent) {
    const auto written = where.find(key);
    if (written == where.end()) return absent;
    const char* end = written->second.data() + written->second.size();
    std::uint64_t value = 0;
    const auto read = std::from_chars(written->second.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end) {
      refuse(fmt::format("at an {} that is no number; save the model again", key));
    }
    return value;
  };
  const std::size_t element_bytes = size_of(tensor.element);
  const auto elements = static_cast<std::uint64_t>(*tensor.extents.checked_elements());
  const std::uint64_t offset = number("offset", 0);
  if (offset > size || elements > (size - offset) / element_bytes) {
    refuse("which ends before them; copy it again");
  }
  const std::uint64_t bytes = elements * element_bytes;
  if (number("length", bytes) != bytes) {
    refuse(fmt::format("of another length than {} {} has; save the model again",
                       to_string(tensor.element), to_string(tensor.extents)));
  }
  // Few bytes of a model name a tensor: the data of a large file must not be read again for each,
  // but for those that some tensors share.
  constexpr std::uint64_t most_times = 4;
  std::uint64_t& taken = taken_[file];
  taken += bytes;
  if (taken / most_times > size) refuse("in which tensors overlap; save the model again");
  std::string data(static_cast<std::size_t>(bytes), '\0');
  in.seekg(static_cast<std::streamoff>(offset));
  if (!in.read(data.data(), static_cast<std::streamsize>(bytes))) refuse("which cannot be read");
  return data;
}

}  // namespace graphline::nn
