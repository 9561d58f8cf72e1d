// Changes to inputs that leave the messages of protocol buffers whole. Bytes changed at random make
// lengths wrong nearly always, so that little of what reads the fields would be tried.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// libFuzzer's: how it changes bytes, and what it calls for changes of ours.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

/// The bytes of each field of a message with its tag; empty if they are not a message.
std::vector<std::string_view> fields_of(std::string_view message) {
  std::vector<std::string_view> fields;
  try {
    for (protozero::pbf_reader from(message.data(), message.size()); from.next();) {
      from.skip();
      const char* end = message.data() + (message.size() - from.length());
      const char* begin =
          fields.empty() ? message.data() : fields.back().data() + fields.back().size();
      fields.emplace_back(begin, static_cast<std::size_t>(end - begin));
    }
  } catch (const protozero::exception&) {
    fields.clear();
  }
  return fields;
}

class mutation {
 public:
  explicit mutation(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }

  /// Changes a field of a message or of a nested message.
  std::string changed(std::string_view message, int depth = 0) {
    constexpr int deepest = 40;
    auto fields = fields_of(message);
    if (fields.empty() || depth > deepest) return varied(message);
    std::string field;
    const std::size_t at = below(fields.size());
    switch (below(8)) {
      case 0:  // it goes
        break;
      case 1:  // it comes twice
        field = std::string(fields[at]) + std::string(fields[at]);
        break;
      case 2:  // another one in its place
        field = fields[below(fields.size())];
        break;
      default:
        field = changed_field(fields[at], depth);
    }
    std::string result;
    for (std::size_t i = 0; i < fields.size(); ++i)
      result += i == at ? field : std::string(fields[i]);
    return result;
  }

 private:
  std::string changed_field(std::string_view field, int depth) {
    protozero::pbf_reader from(field.data(), field.size());
    from.next();
    const protozero::pbf_tag_type tag = from.tag();
    std::string result;
    protozero::pbf_writer to(result);
    if (from.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      const auto held = from.get_view();
      to.add_bytes(tag, changed({held.data(), held.size()}, depth + 1));
    } else if (from.has_wire_type(protozero::pbf_wire_type::varint)) {
      constexpr std::int64_t unusual[] = {0, 1, -1, 2, 255, INT32_MAX, INT64_MAX, INT64_MIN};
      const std::uint64_t near = from.get_uint64() + below(5) - 2;
      to.add_int64(tag, below(2) == 0 ? unusual[below(std::size(unusual))]
                                      : static_cast<std::int64_t>(near));
    } else {
      result = varied(field);
    }
    return result;
  }

  static std::string varied(std::string_view bytes) {
    std::string result(bytes);
    result.resize(bytes.size() + 16);
    result.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(result.data()), bytes.size(),
                                   result.size()));
    return result;
  }

  std::minstd_rand random_;
};

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  mutation random(seed);
  if (size == 0 || random.below(8) == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string changed = random.changed(input);
  if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
