#include "framework/spec/node_reading.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

constexpr std::size_t longest_name = 100;

bool may_stand_in_a_name(char32_t c) noexcept {
  if (c == '_' || c == '-' || c == '.') return true;
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  // Beyond ASCII, allows all characters except controls and spaces.
  const bool space = c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x202f ||
                     c == 0x205f || c == 0x3000;
  return !space && !is_control(c);
}

}  // namespace

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_name || text == "." || text == "..") return false;
  for (std::size_t at = 0; at < text.size();) {
    const utf8_character character = utf8_at(text, at);
    if (!character.code || !may_stand_in_a_name(*character.code)) return false;
    at += character.bytes;
  }
  return true;
}

bool check_name(const named& name, std::string_view what, diagnostics& out) {
  if (is_name(name.text)) return true;
  out.error(name.place, fmt::format("{} cannot be the name of {}: a name is made of letters, "
                                    "digits, '_', '-' and '.', at most {} bytes",
                                    quote(name.text), what, longest_name));
  return false;
}

bool check_label(const named& name, std::string_view what, diagnostics& out) {
  const bool blank = name.text.find_first_not_of(' ') == std::string::npos;
  if (!blank && name.text.size() <= longest_name && printable(name.text) == name.text) return true;
  out.error(name.place,
            fmt::format("{} cannot be the name of {}: it takes 1 to {} bytes on one line",
                        quote(name.text), what, longest_name));
  return false;
}

named read_name(const node& value, std::string_view key, std::string_view what,
                bool (*check)(const named&, std::string_view, diagnostics&), diagnostics& out) {
  const auto text = read_text(value, key, out);
  const named name{text.value_or(""), value.where()};
  return text && check(name, what, out) ? name : named{"", value.where()};
}

std::optional<std::string_view> parameter_reference(const node& n) noexcept {
  if (!n.is_scalar() || n.quoted() || !n.text().starts_with('$')) return std::nullopt;
  const std::string_view name = std::string_view(n.text()).substr(1);
  return is_name(name) ? std::optional(name) : std::nullopt;
}

bool is_unresolved(const node& n) noexcept {
  return n.where() && parameter_reference(n);
}

bool holds_unresolved(const node& n) noexcept {
  return is_unresolved(n) || std::ranges::any_of(n.items(), holds_unresolved) ||
         std::ranges::any_of(n.members(), holds_unresolved, &node::member::value);
}

void report_mismatch(const node& n, std::string_view what, std::string_view expected,
                     diagnostics& out) {
  if (is_unresolved(n)) return;
  const bool quoted = n.is_scalar() && n.quoted();
  out.error(n.where(), fmt::format("'{}' must be {}, found {}{}", what, expected,
                                   quoted ? "the quoted text " : "", n.describe()));
}

namespace {

/// Reads a scalar as a decimal number. Refuses "inf" and "nan", which from_chars accepts, and
/// leading zeros, which some YAML parsers treat as octal.
template <class T>
std::optional<T> read_decimal(const node& n, std::string_view what, std::string_view expected,
                              diagnostics& out) {
  const std::string_view text = n.is_scalar() && !n.quoted() ? n.text() : std::string_view();
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool begins = !digits.empty() && (is_digit(digits[0]) || digits[0] == '.');
  const bool octal = digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!begins || octal || status == std::errc::invalid_argument ||
      end != text.data() + text.size()) {
    report_mismatch(n, what, expected, out);
    return std::nullopt;
  }
  if (status == std::errc::result_out_of_range) {
    out.error(n.where(), fmt::format("'{}' is out of range: {}", what, quote(text)));
    return std::nullopt;
  }
  return value;
}

/// Reads a list, or a single value as a list of one. Reports every invalid item.
template <class T>
std::optional<std::vector<T>> read_list(const node& n, std::string_view what,
                                        std::string_view expected, diagnostics& out) {
  std::vector<T> list;
  bool complete = true;
  const auto append = [&](const node& item) {
    const std::optional<T> value = read_decimal<T>(item, what, expected, out);
    if (value) list.push_back(*value);
    complete = complete && value.has_value();
  };
  if (n.is_sequence()) {
    std::ranges::for_each(n.items(), append);
  } else {
    append(n);
  }
  return complete ? std::optional(std::move(list)) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> read_integer(const node& n, std::string_view what, diagnostics& out) {
  return read_decimal<std::int64_t>(n, what, "a whole number", out);
}

std::optional<double> read_number(const node& n, std::string_view what, diagnostics& out) {
  return read_decimal<double>(n, what, "a number", out);
}

std::optional<bool> read_boolean(const node& n, std::string_view what, diagnostics& out) {
  if (n.is_scalar() && !n.quoted()) {
    if (n.text() == "true" || n.text() == "on") return true;
    if (n.text() == "false" || n.text() == "off") return false;
  }
  report_mismatch(n, what, "on or off (or true or false)", out);
  return std::nullopt;
}

std::optional<std::string> read_text(const node& n, std::string_view what, diagnostics& out) {
  if (n.is_scalar() && !is_unresolved(n)) return n.text();
  report_mismatch(n, what, "text", out);
  return std::nullopt;
}

std::optional<nanoseconds> read_duration(const node& n, std::string_view what, diagnostics& out) {
  const auto duration = n.is_scalar() ? parse_duration(n.text()) : std::nullopt;
  if (duration) return duration;
  if (n.is_scalar() && parse_nanoseconds(n.text())) {
    out.error(n.where(), fmt::format("'{}' is out of range: {}; the longest duration is 292 years",
                                     what, quote(n.text())));
  } else {
    report_mismatch(n, what, "a duration in ns, us, ms, s or min, such as 20ms", out);
  }
  return std::nullopt;
}

std::optional<double> read_percent(const node& n, std::string_view what, diagnostics& out) {
  const auto part = n.is_scalar() ? parse_percent(n.text()) : std::nullopt;
  if (part && *part > 0 && *part < 1) return part;
  report_mismatch(n, what, "a percentage more than 0% and less than 100%, such as 1%", out);
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> read_integers(const node& n, std::string_view what,
                                                       diagnostics& out) {
  return read_list<std::int64_t>(n, what, "a list of whole numbers", out);
}

std::optional<std::vector<double>> read_numbers(const node& n, std::string_view what,
                                                diagnostics& out) {
  return read_list<double>(n, what, "a list of numbers", out);
}

std::optional<shape> read_shape(const node& n, std::string_view what, diagnostics& out) {
  auto extents =
      read_list<std::int64_t>(n, what, "a list of whole numbers, such as [1, 3, 224, 224]", out);
  if (!extents) return std::nullopt;
  shape s(std::move(*extents));
  for (std::size_t i = 0; i < s.rank(); ++i) {
    if (s[i] >= 1) continue;
    out.error(n.is_sequence() ? n.items()[i].where() : n.where(),
              fmt::format("each extent of '{}' must be at least 1, found {}", what, s[i]));
    return std::nullopt;
  }
  // With this limit, the size in bytes fits 64 bits for every dtype.
  constexpr std::int64_t most_elements = std::int64_t{1} << 59;
  if (s.checked_elements().value_or(most_elements + 1) > most_elements) {
    out.error(n.where(),
              fmt::format("'{}' has more elements than any memory holds: {}", what, to_string(s)));
    return std::nullopt;
  }
  return s;
}

std::optional<dtype> read_dtype(const node& n, std::string_view what, diagnostics& out) {
  const auto name = read_choice(n, what, dtype_names(), out);
  return name ? dtype_from(*name) : std::nullopt;
}

namespace {

std::vector<named> read_texts(const node& n, std::string_view what,
                              bool (*check)(const named&, std::string_view, diagnostics&),
                              diagnostics& out) {
  std::vector<named> names;
  const auto read = [&](const node& item) {
    if (!item.is_scalar() || is_unresolved(item)) {
      report_mismatch(item, what, "a name or a list of names", out);
      return;
    }
    const named name{item.text(), item.where()};
    if (check(name, fmt::format("a member of '{}'", what), out)) names.push_back(name);
  };
  if (n.is_sequence()) {
    std::ranges::for_each(n.items(), read);
  } else {
    read(n);
  }
  return names;
}

}  // namespace

std::vector<named> read_names(const node& n, std::string_view what, diagnostics& out) {
  return read_texts(n, what, check_name, out);
}

std::vector<named> read_labels(const node& n, std::string_view what, diagnostics& out) {
  return read_texts(n, what, check_label, out);
}

std::optional<std::string> read_choice(const node& n, std::string_view what,
                                       const std::vector<std::string>& choices, diagnostics& out) {
  if (!n.is_scalar() || is_unresolved(n)) {
    report_mismatch(n, what, fmt::format("one of {}", fmt::join(choices, ", ")), out);
    return std::nullopt;
  }
  if (std::ranges::find(choices, n.text()) != choices.end()) return n.text();
  out.error(n.where(), fmt::format("unknown value {} for '{}'{}", quote(n.text()), what,
                                   suggestion(n.text(), choices)));
  return std::nullopt;
}

bool check_mapping(const node& n, std::string_view what, diagnostics& out) {
  if (!n.is_mapping()) report_mismatch(n, what, "a mapping", out);
  return n.is_mapping();
}

node read_document(std::shared_ptr<const source_text> source, const document_form& form,
                   diagnostics& out) {
  const std::size_t before = out.all().size();
  const node root = read_yaml(source, out);
  if (root.is_null() && out.all().size() > before) return {};
  const node* schema = root.find("schema");
  const bool result =
      schema != nullptr && schema->is_scalar() && schema->text().starts_with("graphline.");
  if (root.is_null()) {
    out.error({source}, fmt::format("there is nothing in this file but comments; {} has at least "
                                    "the keys {}",
                                    form.what, form.keys));
  } else if (!root.is_mapping()) {
    const bool no_colon = root.is_scalar() && root.text().find(' ') != std::string::npos;
    out.error(root.where(), fmt::format("{} file must be a mapping with the keys {}, found {}{}",
                                        form.what, form.keys, root.describe(),
                                        no_colon ? "; is a ':' missing behind a key?" : ""));
  } else if (result) {
    out.error(schema->where(), fmt::format("this file holds a result, not {}; show it with "
                                           "'graphline report'",
                                           form.what));
  } else if (const node* foreign = root.find(form.foreign_key)) {
    out.error(foreign->where(),
              fmt::format("this file declares {}, not {}; use it with 'graphline {}'", form.foreign,
                          form.what, form.foreign_command));
  } else {
    std::vector<node::member> members = root.members();
    std::erase_if(members, [](const node::member& m) { return m.key.text.starts_with("x-"); });
    return node::mapping(std::move(members), root.where());
  }
  return {};
}

named read_document_name(const node& root, const place& file, const std::string& key,
                         const std::string& what, const std::vector<std::string>& known,
                         diagnostics& out) {
  if (const node* value = root.find(key)) return read_name(*value, key, what, check_name, out);
  if (member_meant(root, key, known) != nullptr) return {};  // reported as an unknown key
  out.error(file, fmt::format("the key '{}' is missing; it names the {}", key, key));
  return {};
}

namespace {

/// Returns the key of `known` that other formats call `word`; empty if there is none.
std::string_view meant_key(std::string_view word, const std::vector<std::string>& known) {
  static const std::pair<std::string_view, std::vector<std::string_view>> synonyms[] = {
      {"reads", {"input", "inputs", "in", "from", "source", "consumes"}},
      {"writes", {"output", "outputs", "out", "to", "produces"}},
      {"kind", {"type", "op", "op_type", "operator", "class", "function"}},
      {"after", {"depends_on", "depends", "dependencies", "needs", "requires", "wait_for"}},
      {"name", {"id", "label", "stage", "title"}},
      {"experiment", {"name"}},
      {"pipeline", {"name"}},
      {"params", {"parameters", "variables", "vars"}},
      {"run", {"settings", "config", "options"}},
      {"stages", {"nodes", "steps", "layers"}},
      {"dtype", {"type"}},
      {"shape", {"size", "dims", "dimensions"}},
      {"file", {"path", "data"}},
      {"frames", {"iterations"}},
      {"max_time", {"timeout"}},
      {"rate", {"fps"}},
      {"in_flight", {"concurrency"}},
      {"vary", {"matrix", "sweep", "grid"}},
      {"baseline", {"reference"}},
      {"trials", {"repetitions", "repeats"}}};
  for (const auto& [ours, others] : synonyms) {
    if (std::ranges::find(others, word) != others.end() &&
        std::ranges::find(known, ours) != known.end()) {
      return ours;
    }
  }
  return {};
}

}  // namespace

const node::member* member_meant(const node& mapping, const std::string& key,
                                 const std::vector<std::string>& known) {
  const std::vector<std::string> wanted = {key};
  for (const auto& one : mapping.members()) {
    const auto& word = one.key.text;
    if (std::ranges::find(known, word) != known.end()) continue;
    if (!meant_key(word, wanted).empty() || !nearest(word, wanted).empty()) return &one;
  }
  return nullptr;
}

void check_keys(const node& mapping, std::string_view what, const std::vector<std::string>& known,
                diagnostics& out) {
  for (const auto& [key, value] : mapping.members()) {
    if (std::ranges::find(known, key.text) != known.end()) continue;
    const auto meant = meant_key(key.text, known);
    out.error(key.place, fmt::format("unknown key {} in {}{}", quote(key.text), what,
                                     meant.empty() ? suggestion(key.text, known, known.size())
                                                   : fmt::format(" (did you mean '{}'?)", meant)));
  }
}

}  // namespace graphline
