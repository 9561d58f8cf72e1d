// Changes to inputs that leave JSON whole. Bytes changed at random are refused by the parser nearly
// always, so that little of what reads the values would be tried.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// libFuzzer's: how it changes bytes, and what it calls for changes of ours.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

using json = nlohmann::ordered_json;

/// Position of JSON in an input.
struct extent {
  std::size_t begin = 0;
  std::size_t length = 0;
  bool has_length = false;  ///< eight bytes before it say how long it is
};

class mutation {
 public:
  explicit mutation(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }

  /// A line of a trial store, the header of a safetensors file, or the whole.
  extent json_of(std::string_view input) {
    constexpr std::size_t prefix = 8;
    if (input.size() > prefix && input[prefix] == '{') {
      std::uint64_t length = 0;
      std::memcpy(&length, input.data(), prefix);
      if (length <= input.size() - prefix) return {prefix, static_cast<std::size_t>(length), true};
    }
    if (!input.starts_with(R"({"schema":"graphline.trials)")) return {0, input.size()};
    const auto near = below(input.size());
    const auto begin = near == 0 ? 0 : input.rfind('\n', near - 1) + 1;
    return {begin, std::min(input.find('\n', near), input.size()) - begin};
  }

  /// Changes some values; empty if the text is not JSON.
  std::optional<std::string> changed(std::string_view text) {
    auto whole = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (whole.is_discarded()) return std::nullopt;
    for (auto changes = 1 + below(3); changes > 0; --changes) change(whole);
    return whole.dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  void change(json& whole) {
    std::vector<json*> values;
    collect(whole, values);
    json& at = *values[below(values.size())];
    switch (below(4)) {
      case 0:
        at = unusual();
        break;
      case 1:
        at = json(*values[below(values.size())]);
        break;
      case 2:
        if (at.is_structured() && !at.empty()) {
          at.erase(std::next(at.begin(), static_cast<std::ptrdiff_t>(below(at.size()))));
        }
        break;
      default:
        vary(at);
    }
  }

  static void collect(json& value, std::vector<json*>& into) {
    into.push_back(&value);
    if (!value.is_structured()) return;
    for (auto& item : value) collect(item, into);
  }

  json unusual() {
    constexpr const char* texts[] = {"null",
                                     "true",
                                     "0",
                                     "-1",
                                     "1",
                                     "0.5",
                                     "[]",
                                     "{}",
                                     "\"\"",
                                     "\"nan\"",
                                     "\"inf\"",
                                     "1e308",
                                     "9007199254740993",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "18446744073709551615"};
    return json::parse(texts[below(std::size(texts))]);
  }

  /// A different value of the same type.
  void vary(json& value) {
    if (value.is_string()) {
      auto text = value.get<std::string>();
      const auto size = text.size();
      text.resize(size + 16);
      text.resize(
          LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
      value = text;
    } else if (value.is_number_integer()) {
      value = value.get<std::int64_t>() ^ (std::int64_t{1} << below(63));
    } else if (value.is_number()) {
      value = value.get<double>() * (below(2) == 0 ? -1e3 : 1e-3);
    } else if (value.is_array() && !value.empty()) {
      value.insert(value.begin() + static_cast<std::ptrdiff_t>(below(value.size())),
                   json(value[below(value.size())]));
    }
  }

  std::minstd_rand random_;
};

/// Values nested deeper stay unchanged, to bound the stack.
bool is_deep(std::string_view text) {
  constexpr int deepest = 200;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > deepest) return true;
  }
  return false;
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  mutation random(seed);
  std::string input(reinterpret_cast<const char*>(data), size);
  if (size == 0 || random.below(4) == 0 || is_deep(input)) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const auto at = random.json_of(input);
  const auto text = random.changed(std::string_view(input).substr(at.begin, at.length));
  if (!text || size - at.length + text->size() > most) return LLVMFuzzerMutate(data, size, most);
  input.replace(at.begin, at.length, *text);
  if (at.has_length) {
    const std::uint64_t length = text->size();
    std::memcpy(input.data(), &length, sizeof length);
  }
  std::memcpy(data, input.data(), input.size());
  return input.size();
}
