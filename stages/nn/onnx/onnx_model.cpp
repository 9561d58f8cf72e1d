#include "stages/nn/onnx/onnx_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/nn/onnx/protobuf_fields.hpp"

namespace graphline::nn {
namespace {

namespace fs = std::filesystem;

/// Largest size of a protocol buffer message, in bytes.
constexpr std::uint64_t largest_model = std::uint64_t{1} << 31;

constexpr std::int64_t first_opset = 7;
constexpr std::int64_t last_opset = 23;

/// Limits far above the rank of any tensor and the nesting of any model's graphs.
constexpr std::size_t most_dimensions = 64;
constexpr int deepest_graph = 16;

std::pair<std::string, std::string> read_pair(std::string_view bytes) {
  std::pair<std::string, std::string> result;
  read_fields(bytes, field{1, result.first}, field{2, result.second});
  return result;
}

onnx_value read_value(std::string_view bytes) {
  onnx_value result;
  std::string_view type;
  std::string_view tensor;
  std::int64_t element = 0;
  const auto read_dimension = [&](std::string_view dimension) {
    onnx_extent extent;
    std::int64_t number = -1;  // some exporters write -1 for unknown extents
    read_fields(dimension, field{1, number}, field{2, extent.symbol});
    if (number >= 0) extent.number = number;
    result.extents->push_back(std::move(extent));
  };
  const auto read_shape = [&](std::string_view extents) {
    result.extents.emplace();
    read_fields(extents, field{1, read_dimension});
  };
  read_fields(bytes, field{1, result.name}, field{2, type});
  read_fields(type, field{1, tensor});
  read_fields(tensor, field{1, element}, field{2, read_shape});
  result.element = onnx_type_of(element);
  return result;
}

std::string automatic_name(const onnx_node& node, std::size_t position) {
  return fmt::format("{}_{}", node.op_type, position);
}

/// Gives a new name to nodes without a name or with the name of an earlier node.
void complete_names(std::vector<onnx_node>& nodes) {
  std::set<std::string, std::less<>> taken;
  for (onnx_node& node : nodes) {
    if (!node.name.empty() && !taken.insert(node.name).second) node.name.clear();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].name.empty()) continue;
    nodes[i].name = automatic_name(nodes[i], i);
    while (!taken.insert(nodes[i].name).second) nodes[i].name += '_';
  }
}

class model_reader {
 public:
  explicit model_reader(std::string path) : path_(std::move(path)) {}

  onnx_model read() {
    auto [file, size] = open_binary_file(path_, "ONNX file");
    if (size > largest_model) {
      fail("is larger than 2 GiB, the most that ONNX allows; save its tensors as external data");
    }
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) fail("cannot be read");
    return parse(bytes);
  }

  onnx_model parse(std::string_view bytes) {
    onnx_model result;
    std::string_view graph;
    std::int64_t ir_version = 0;
    const auto read_opset = [&](std::string_view import) {
      std::string domain;
      std::int64_t opset = 0;
      read_fields(import, field{1, domain}, field{2, opset});
      if (domain.empty() || domain == "ai.onnx") result.opset = opset;
    };
    try {
      read_fields(bytes, field{1, ir_version}, field{7, graph}, field{8, read_opset});
    } catch (const protozero::end_of_buffer_exception&) {
      if (ir_version > 0) fail("is truncated; copy it again");
    } catch (const protozero::exception&) {
      if (ir_version > 0) fail("is damaged; copy it again");
    }
    if (ir_version <= 0) {
      if (bytes.starts_with("\x1f\x8b")) fail("is compressed by gzip; unpack it with gunzip");
      if (bytes.starts_with("PK\x03\x04")) fail("is a zip archive; unpack it");
      fail(
          "is not an ONNX file; export a model of another format, for example with "
          "torch.onnx.export");
    }
    if (graph.data() == nullptr) fail("holds no graph; export the model again");
    if (result.opset < first_opset || result.opset > last_opset) {
      fail(
          fmt::format("uses operator set {}, and {} to {} are supported; convert it with "
                      "onnx.version_converter",
                      result.opset, first_opset, last_opset));
    }
    result.graph = read_graph(graph, 0);
    check(result.graph, nullptr);
    return result;
  }

 private:
  /// Entries of TensorProto.external_data: "location", and "offset" and "length" as numbers.
  using external_entries = std::map<std::string, std::string>;

  /// Names defined in a graph and in the graphs around it.
  struct scope {
    const scope* outer = nullptr;
    std::set<std::string_view> given = {};

    bool gives(std::string_view name) const {
      return given.contains(name) || (outer != nullptr && outer->gives(name));
    }
  };

  [[noreturn]] void fail(const std::string& message) const {
    throw input_error(fmt::format("ONNX file '{}' {}", path_, message));
  }
  [[noreturn]] void unsound(const std::string& where, const std::string& message) const {
    fail(fmt::format("is invalid: {} {}; export the model again", where, message));
  }
  /// Calls `read` on a part of the file. If the part is damaged, throws an error that names it.
  template <class Read>
  auto read_part(const std::string& where, const Read& read) {
    try {
      return read();
    } catch (const protozero::exception&) {
      unsound(where, "is damaged");
    }
  }

  onnx_graph read_graph(std::string_view bytes, int depth) {
    if (depth > deepest_graph) fail(fmt::format("has graphs more than {} deep", deepest_graph));
    onnx_graph result;
    const auto read_initializer = [&](std::string_view tensor) {
      result.initializers.push_back(
          read_part(fmt::format("initializer {}", result.initializers.size()),
                    [&] { return read_tensor(tensor); }));
    };
    const auto read_input = [&](std::string_view value) {
      result.inputs.push_back(read_value(value));
    };
    const auto read_output = [&](std::string_view value) {
      result.outputs.push_back(read_value(value));
    };
    const auto read_one = [&](std::string_view node) {
      result.nodes.push_back(read_node(node, result.nodes.size(), depth));
    };
    const auto refuse_sparse = [&](std::string_view) {
      fail("has a sparse initializer, which is not supported; export it with dense ones");
    };
    read_part("its graph", [&] {
      read_fields(bytes, field{1, read_one}, field{5, read_initializer}, field{11, read_input},
                  field{12, read_output}, field{15, refuse_sparse});
    });
    complete_names(result.nodes);
    std::set<std::string_view> initialized;
    for (const onnx_tensor& tensor : result.initializers) initialized.insert(tensor.name);
    std::erase_if(result.inputs,
                  [&](const onnx_value& input) { return initialized.contains(input.name); });
    return result;
  }

  onnx_node read_node(std::string_view bytes, std::size_t position, int depth) {
    onnx_node result;
    std::vector<std::string_view> attributes;
    const std::string where = fmt::format("node {}", position);
    read_part(where, [&] {
      read_fields(bytes, field{1, result.inputs}, field{2, result.outputs}, field{3, result.name},
                  field{4, result.op_type}, field{5, attributes}, field{7, result.domain});
    });
    if (result.op_type.empty()) unsound(where, "names no operator");
    if (result.domain == "ai.onnx") result.domain.clear();
    const std::string named =
        "node " + quote(result.name.empty() ? automatic_name(result, position) : result.name);
    for (const std::string_view attribute : attributes) {
      result.attributes.push_back(
          read_part(named, [&] { return read_attribute(attribute, named, depth); }));
    }
    return result;
  }

  onnx_attribute read_attribute(std::string_view bytes, const std::string& node, int depth) {
    onnx_attribute result;
    std::int64_t type = 0;
    float real = 0;
    std::int64_t integer = 0;
    std::string_view text, tensor, graph;
    std::vector<float> reals;
    std::vector<std::int64_t> integers;
    std::vector<std::string_view> texts;
    read_fields(bytes, field{1, result.name}, field{2, real}, field{3, integer}, field{4, text},
                field{5, tensor}, field{6, graph}, field{7, reals}, field{8, integers},
                field{9, texts}, field{20, type});
    const std::string where = fmt::format("{}, attribute {}", node, quote(result.name));
    if (type == 0) unsound(where, "has no type");
    if (type == 1) result.value = real;
    if (type == 2) result.value = integer;
    if (type == 3) result.value = std::string(text);
    if (type == 4) result.value = read_tensor(tensor, where);
    if (type == 5) result.value = std::make_shared<const onnx_graph>(read_graph(graph, depth + 1));
    if (type == 6) result.value = std::move(reals);
    if (type == 7) result.value = std::move(integers);
    if (type == 8) result.value = std::vector<std::string>(texts.begin(), texts.end());
    return result;
  }

  onnx_tensor read_tensor(std::string_view bytes, std::string where = {}) {
    onnx_tensor result;
    std::vector<std::int64_t> extents;
    std::int64_t type = 0;
    std::int64_t location = 0;
    std::string_view segment, raw;
    external_entries external;
    read_fields(bytes, field{1, extents}, field{2, type}, field{3, segment}, field{8, result.name},
                field{9, raw},
                field{13, [&](std::string_view entry) { external.insert(read_pair(entry)); }},
                field{14, location});
    if (where.empty()) where = "initializer " + quote(result.name);
    result.element = onnx_type_of(type);
    if (result.element == onnx_type::undefined) {
      fail(fmt::format("is not supported: {} has the element type {}; export it with another one",
                       where, type));
    }
    if (segment.data() != nullptr) unsound(where, "is a segment of a tensor");
    if (extents.size() > most_dimensions) {
      unsound(where, fmt::format("has {} dimensions", extents.size()));
    }
    result.extents = shape(std::move(extents));
    if (!result.extents.checked_elements()) {
      unsound(where, "has the impossible shape " + to_string(result.extents));
    }
    const std::size_t element_bytes = size_of(result.element);
    if (element_bytes == 0) return result;
    std::string outside;
    if (location == 1) raw = outside = read_external(external, result, where);
    result.values = raw.empty() ? typed_onnx_values(result.element, bytes)
                                : onnx_values_of(result.element, raw);
    if (!result.known() || raw.size() % element_bytes != 0) {
      unsound(where, fmt::format("does not have the data of {} {}", to_string(result.element),
                                 to_string(result.extents)));
    }
    if (result.element == onnx_type::uint64 &&
        std::ranges::any_of(std::get<std::vector<std::int64_t>>(result.values),
                            [](std::int64_t value) { return value < 0; })) {
      fail(fmt::format("is not supported: {} has numbers beyond 2^63 - 1; export it as int64",
                       where));
    }
    return result;
  }

  /// Reads the bytes of a tensor whose type and extents are set from a file in the model's folder.
  /// @throws input_error naming model and tensor if the file cannot be read, is too short or is
  /// outside the model's folder, or if links lead out of that folder.
  std::string read_external(const external_entries& where, const onnx_tensor& tensor,
                            const std::string& subject) {
    const auto location = where.contains("location") ? where.at("location") : std::string();
    const auto refuse = [&](const std::string& why) {
      fail(fmt::format("cannot be read: {} has its data in {}, {}", subject, quote(location), why));
    };
    const fs::path inside(location);
    if (location.empty() || inside.is_absolute() ||
        std::ranges::find(inside, fs::path("..")) != inside.end()) {
      refuse(
          "which is not a path inside the model's folder; save the model again, with its data "
          "there");
    }
    std::error_code problem;
    const fs::path folder = fs::canonical(folder_of(path_), problem);
    const fs::path file = problem ? fs::path() : fs::canonical(folder / inside, problem);
    if (problem) refuse("which is not there: " + problem.message());
    // In download caches, the model and its data are links to files in one other folder.
    const fs::path linked = fs::canonical(path_, problem).parent_path();
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
        refuse(fmt::format("at an {} that is not a number; save the model again", key));
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
    // A few bytes in the model can request a large read. The limit bounds the reads of a file but
    // lets tensors share data.
    constexpr std::uint64_t most_times = 4;
    std::uint64_t& taken = taken_[file];
    taken += bytes;
    if (taken / most_times > size) refuse("in which tensors overlap; save the model again");
    std::string data(static_cast<std::size_t>(bytes), '\0');
    in.seekg(static_cast<std::streamoff>(offset));
    if (!in.read(data.data(), static_cast<std::streamsize>(bytes))) refuse("which cannot be read");
    return data;
  }

  void check(const onnx_graph& graph, const scope* outer) const {
    scope here{outer};
    const auto give = [&](const std::string& where, const std::string& name) {
      if (!here.given.insert(name).second) {
        unsound(where, fmt::format("gives {}, which is given before", quote(name)));
      }
    };
    for (const onnx_tensor& tensor : graph.initializers) give("an initializer", tensor.name);
    for (const onnx_value& input : graph.inputs) give("an input", input.name);
    for (auto node = graph.nodes.begin(); node != graph.nodes.end(); ++node) {
      const std::string where = "node " + quote(node->name);
      for (const std::string& input : node->inputs) {
        if (input.empty() || here.gives(input)) continue;
        const auto giver = std::find_if(node, graph.nodes.end(), [&](const onnx_node& later) {
          return std::ranges::find(later.outputs, input) != later.outputs.end();
        });
        unsound(where, fmt::format("reads {}, which {}", quote(input),
                                   giver == graph.nodes.end()
                                       ? "nothing gives"
                                       : fmt::format("node {} does not give before it",
                                                     quote(giver->name))));
      }
      for (const onnx_attribute& attribute : node->attributes) {
        const auto* inner = std::get_if<std::shared_ptr<const onnx_graph>>(&attribute.value);
        if (inner != nullptr) check(**inner, &here);
      }
      for (const std::string& output : node->outputs) {
        if (!output.empty()) give(where, output);
      }
    }
    for (const onnx_value& output : graph.outputs) {
      if (!here.gives(output.name)) {
        unsound("its output " + quote(output.name), "is given by no node");
      }
    }
  }

  std::string path_;
  std::map<std::string, std::uint64_t> taken_;  ///< bytes read per file of external data
};

}  // namespace

onnx_model read_onnx(const std::string& path) {
  return model_reader(path).read();
}

onnx_model parse_onnx(std::span<const std::byte> bytes, const std::string& path) {
  return model_reader(path).parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace graphline::nn
