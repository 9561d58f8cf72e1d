#include "framework/base/file/npy_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/output_file.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

/// Limit in bytes, far above the size of real headers.
constexpr std::uint64_t largest_npy_header = 65536;

/// Limit far above the number of extents of real tensors.
constexpr std::size_t most_npy_extents = 64;

struct npy_name {
  dtype type;
  std::string_view name;
};

constexpr npy_name npy_names[] = {{dtype::float32, "<f4"}, {dtype::float64, "<f8"},
                                  {dtype::float16, "<f2"}, {dtype::bfloat16, "<u2"},
                                  {dtype::int64, "<i8"},   {dtype::int32, "<i4"},
                                  {dtype::uint8, "|u1"}};

class python_literal {
 public:
  explicit python_literal(std::string_view text) : rest_(text) {}

  /// Skips spaces, then `token`. Returns false if the text continues without `token`.
  bool take(std::string_view token) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool at_end() { return take("") && rest_.empty(); }

  std::optional<std::string> text() {
    for (const char quote : {'\'', '"'}) {
      if (!take({&quote, 1})) continue;
      const std::size_t end = rest_.find(quote);
      if (end == std::string_view::npos) return std::nullopt;
      std::string found(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
      return found;
    }
    return std::nullopt;
  }

  std::optional<bool> truth() {
    if (take("True")) return true;
    if (take("False")) return false;
    return std::nullopt;
  }

  /// Parses a tuple of non-negative integers. Returns empty on any other text.
  std::optional<std::vector<std::int64_t>> extents() {
    if (!take("(")) return std::nullopt;
    std::vector<std::int64_t> found;
    while (!take(")")) {
      std::int64_t extent = 0;
      const auto [end, problem] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (problem != std::errc() || extent < 0 || found.size() == most_npy_extents) {
        return std::nullopt;
      }
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      found.push_back(extent);
      if (!take(",") && !rest_.starts_with(")")) return std::nullopt;
    }
    return found;
  }

 private:
  std::string_view rest_;
};

struct npy_description {
  std::optional<std::string> element;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> extents;
};

/// Parses a header. Returns empty unless it has exactly the keys descr, fortran_order and shape.
std::optional<npy_description> describe_npy(std::string_view header) {
  python_literal in(header);
  npy_description found;
  if (!in.take("{")) return std::nullopt;
  while (!in.take("}")) {
    const auto key = in.text();
    if (!key || !in.take(":")) return std::nullopt;
    if (*key == "descr") {
      found.element = in.text();
    } else if (*key == "fortran_order") {
      found.fortran_order = in.truth();
    } else if (*key == "shape") {
      found.extents = in.extents();
    } else {
      return std::nullopt;
    }
    if (!in.take(",")) {
      if (!in.take("}")) return std::nullopt;
      break;
    }
  }
  const bool whole = found.element && found.fortran_order && found.extents && in.at_end();
  return whole ? std::optional(found) : std::nullopt;
}

}  // namespace

npy_file::npy_file(std::string path) : path_(std::move(path)) {
  auto opened = open_binary_file(path_, "NumPy file");
  file_ = std::move(opened.stream);
  understand(read_header(opened.size));
  const std::uint64_t held = opened.size - data_start_;
  if (held == type_.bytes()) return;
  fail(fmt::format("{}: {} takes {} bytes, and {} follow its header",
                   held < type_.bytes() ? "is truncated" : "holds more than one array",
                   to_string(type_), type_.bytes(), held));
}

void npy_file::fail(const std::string& message) const {
  throw input_error(fmt::format("NumPy file {} {}", quote(path_, 200), message));
}

std::string npy_file::read_header(std::uint64_t size) {
  std::string start(12, '\0');
  file_.read(start.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(size, 12)));
  if (!start.starts_with(npy_magic)) {
    fail(fmt::format(
        "is {}; write one array with numpy.save, and name that file",
        start.starts_with("PK") ? "an archive of several, .npz" : "not in NumPy's format, .npy"));
  }
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(start[at]); };
  const unsigned version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    fail(fmt::format("has format version {}.{}, and 1.0, 2.0 and 3.0 are read", version, byte(7)));
  }
  std::uint64_t length = byte(8) | std::uint64_t{byte(9)} << 8;
  if (version > 1) length |= std::uint64_t{byte(10)} << 16 | std::uint64_t{byte(11)} << 24;
  const std::uint64_t begin = version == 1 ? 10 : 12;
  if (begin + length > size) fail("is truncated in its header");
  if (length > largest_npy_header) {
    fail(fmt::format("has a header of {} bytes; at most {} are read", length, largest_npy_header));
  }
  std::string text(length, '\0');
  file_.seekg(static_cast<std::streamoff>(begin));
  file_.read(text.data(), static_cast<std::streamsize>(length));
  if (!file_) fail("cannot be read");
  data_start_ = begin + length;
  return text;
}

void npy_file::understand(const std::string& header) {
  const auto found = describe_npy(header);
  if (!found) {
    fail(
        "does not hold one array of numbers: its header must hold a 'descr' that is text, a "
        "'fortran_order', a 'shape' of extents from 0 to 2^63 - 1, and nothing else");
  }
  const auto known =
      std::ranges::find(npy_names, std::string_view(*found->element), &npy_name::name);
  if (known == std::end(npy_names)) {
    fail(fmt::format("holds elements of type {}{}; save it as one of {}, with astype",
                     quote(*found->element),
                     found->element->starts_with('>') ? ", which is big-endian" : "",
                     "float32, float16, int64, int32 and uint8"));
  }
  type_ = {shape(*found->extents), known->type};
  if (*found->fortran_order) {
    fail("is in Fortran order; save numpy.ascontiguousarray of the array");
  }
  constexpr std::int64_t most_elements = std::int64_t{1} << 59;
  const auto elements = type_.shape.checked_elements();
  if (elements == 0) fail(fmt::format("is empty: {}", to_string(type_)));
  if (!elements || *elements > most_elements) {
    fail(fmt::format("has more elements than any memory holds: {}", to_string(type_)));
  }
}

std::string npy_file::dtype_problem(std::optional<dtype> stated) const {
  const dtype element = type_.element;
  const std::string found = to_string(type_);
  std::string remedy;
  if (element == dtype::float64 && stated.value_or(dtype::float32) == dtype::float32) {
    remedy = found + ": save it as float32, with astype('float32')";
    if (!stated) remedy += ", or state 'dtype: float64' where its readers take that";
  } else if (stated && *stated != element) {
    remedy = fmt::format("{}: omit 'dtype', or make it {}", found, to_string(element));
  } else if (!stated && element == dtype::bfloat16) {
    remedy = "uint16: state 'dtype: bfloat16' if these are bfloat16 numbers";
  } else {
    return {};
  }
  return fmt::format("NumPy file '{}' holds {}", path_, remedy);
}

void npy_file::read(std::span<std::byte> to) {
  file_.seekg(static_cast<std::streamoff>(data_start_));
  file_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!file_) fail("cannot be read");
}

void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data) {
  std::string extents;
  for (const auto e : type.shape.extents()) extents += fmt::format("{}, ", e);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                  std::ranges::find(npy_names, type.element, &npy_name::type)->name, extents);
  // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
  const std::size_t padding = 63 - (10 + text.size()) % 64;
  text += std::string(padding, ' ') + '\n';
  std::string head(npy_magic);
  head += {'\x01', '\x00'};
  head += {static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  try {
    output_file file(path.string());
    file.commit([&](text_sink& to) {
      to.append(head).append(text).append(
          {reinterpret_cast<const char*>(data.data()), data.size()});
    });
  } catch (const input_error& refused) {
    throw run_error(refused.what());  // not named on the command line
  }
}

}  // namespace graphline
