#include "framework/base/json_reader.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

/// Returns the parser's message without its number and position.
std::string reason_of(std::string_view what) {
  constexpr std::string_view dash = " - ";
  constexpr std::string_view bracket = "] ";
  auto reason = what;
  if (const auto at = what.find(dash); at != what.npos) {
    reason = what.substr(at + dash.size());
  } else if (const auto end = what.find(bracket); end != what.npos) {
    reason = what.substr(end + bracket.size());
  }
  if (reason.starts_with("unexpected end of input")) return "it ends too early";
  return std::string(reason);
}

/// SAX handler that builds the value. nlohmann's builder takes quadratic time for large objects.
class builder {
 public:
  explicit builder(std::size_t text_bytes) : left_(10 * text_bytes + (std::size_t{32} << 20)) {}

  bool null() { return put(json()); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) {
    take(48 + value.size());
    return put(std::move(value));
  }
  bool binary(json::binary_t&) { return true; }  // never called for JSON text
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    take(64 + name.size());
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& why) {
    constexpr int number_too_large = 406;
    throw json_error(byte, why.id == number_too_large
                               ? "a number in it is larger than any that can be held"
                               : reason_of(why.what()));
  }

  json result() { return std::move(whole_); }

 private:
  /// Counts a value's approximate memory in bytes. Values take 2 to 6 times the size of their text
  /// in result files, and 9 times in the headers of weight files.
  void take(std::size_t bytes) {
    if (bytes > left_) throw json_error(1, "it holds more values than a file of its size may");
    left_ -= bytes;
  }

  /// Inserts a value and returns its address.
  json* place(json&& value) {
    if (open_.empty()) return &(whole_ = std::move(value));
    json* const in = open_.back();
    if (in->is_array()) {
      return &in->get_ref<json::array_t&>().emplace_back(std::move(value));
    }
    auto& members = in->get_ref<json::object_t&>();
    std::vector<json::object_t::value_type>& all = members;  // to append without a search
    return &all.emplace_back(std::move(key_), std::move(value)).second;
  }

  bool put(json value) {
    take(24);
    place(std::move(value));
    return true;
  }

  bool open(json value) {
    if (open_.size() == max_json_depth) {
      throw json_error(
          1, fmt::format("lists and objects are nested more than {} deep", max_json_depth));
    }
    take(56);
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  json whole_;
  std::vector<json*> open_;  ///< open lists and objects, the innermost last
  std::string key_;
  std::size_t left_;  ///< bytes that values may still take
};

}  // namespace

json read_json(std::string_view text) {
  builder made(text.size());
  json::sax_parse(text, &made);
  return made.result();
}

std::optional<json> find_json(std::string_view text) {
  try {
    return read_json(text);
  } catch (const json_error&) {
    return std::nullopt;
  }
}

}  // namespace graphline
