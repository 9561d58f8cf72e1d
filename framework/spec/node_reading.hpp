#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/words.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Returns true if `text` is a valid name of a pipeline, stage, tensor or parameter: at most 100
/// bytes of letters (of any script), digits, "_", "-" and ".". "." and ".." are invalid, because
/// names become file names.
bool is_name(std::string_view text) noexcept;

/// Reports an invalid name of `what`, such as "a stage". Returns true if the name is valid.
bool check_name(const named& name, std::string_view what, diagnostics& out);

/// Reports a label of `what` that is blank, over 100 bytes long or contains control characters.
/// Labels are the displayed names of configurations and members. Returns true if the label is
/// valid.
bool check_label(const named& name, std::string_view what, diagnostics& out);

/// Reads the text of `key` and checks it with `check` as a name of `what`. Empty after an error.
named read_name(const node& value, std::string_view key, std::string_view what,
                bool (*check)(const named&, std::string_view, diagnostics&), diagnostics& out);

/// Reports names that occur more than once in `list`. `what` is the entry in messages: "member".
/// Ignores empty names, because their errors are already reported.
template <class Named>
void check_distinct(const std::vector<Named>& list, std::string_view what, diagnostics& out) {
  std::unordered_map<std::string_view, const place*> first;
  for (const Named& entry : list) {
    if (entry.name.text.empty()) continue;
    const auto [earlier, is_new] = first.emplace(entry.name.text, &entry.name.place);
    if (is_new) continue;
    out.error(
        entry.name.place,
        fmt::format("a {} named {} is there already, on line {}; give each a 'name' of its own",
                    what, quote(entry.name.text), earlier->second->line));
  }
}

/// Returns the name in a parameter reference, "batch" for $batch; empty for other nodes.
std::optional<std::string_view> parameter_reference(const node& n) noexcept;

/// Returns true for a parameter reference that was not substituted because of a reported error.
bool is_unresolved(const node& n) noexcept;

/// Returns true if a node, or a node within it, is unresolved.
bool holds_unresolved(const node& n) noexcept;

/// Reports "'WHAT' must be EXPECTED, found ..." at the node's place, unless the node is unresolved.
void report_mismatch(const node& n, std::string_view what, std::string_view expected,
                     diagnostics& out);

// Typed readers. On an error they report "'WHAT' must be a whole number, found 'abc'" at the node's
// place and return empty.

std::optional<std::int64_t> read_integer(const node& n, std::string_view what, diagnostics& out);
std::optional<double> read_number(const node& n, std::string_view what, diagnostics& out);
std::optional<bool> read_boolean(const node& n, std::string_view what, diagnostics& out);
std::optional<std::string> read_text(const node& n, std::string_view what, diagnostics& out);

/// Reads a duration with its unit, such as 20ms; returns nanoseconds.
std::optional<nanoseconds> read_duration(const node& n, std::string_view what, diagnostics& out);

/// Reads a percentage above 0% and below 100%; returns a fraction, 0.01 for 1%.
std::optional<double> read_percent(const node& n, std::string_view what, diagnostics& out);

/// Reads a list of whole numbers; a single number is a list of one.
std::optional<std::vector<std::int64_t>> read_integers(const node& n, std::string_view what,
                                                       diagnostics& out);
std::optional<std::vector<double>> read_numbers(const node& n, std::string_view what,
                                                diagnostics& out);

/// Reads a shape of at most 2^59 elements. Each extent is at least 1.
std::optional<shape> read_shape(const node& n, std::string_view what, diagnostics& out);
std::optional<dtype> read_dtype(const node& n, std::string_view what, diagnostics& out);

/// Reads one name or a list of names.
std::vector<named> read_names(const node& n, std::string_view what, diagnostics& out);
/// Reads one label or a list of labels. Labels may contain any printable character.
std::vector<named> read_labels(const node& n, std::string_view what, diagnostics& out);

/// Reads one of `choices`. The error message suggests the nearest choice.
std::optional<std::string> read_choice(const node& n, std::string_view what,
                                       const std::vector<std::string>& choices, diagnostics& out);

/// Returns the words of an enumeration.
template <class T>
std::vector<std::string> word_list() {
  std::vector<std::string> list;
  for (const auto& entry : words_of<T>::table) list.emplace_back(entry.first);
  return list;
}

/// Reads one word of an enumeration of base/words.hpp.
template <class T>
std::optional<T> read_word(const node& n, std::string_view what, diagnostics& out) {
  const auto text = read_choice(n, what, word_list<T>(), out);
  return text ? from_word<T>(*text) : std::nullopt;
}

/// Reports a node that is not a mapping. Returns true if it is a mapping.
bool check_mapping(const node& n, std::string_view what, diagnostics& out);

/// A kind of file, and the other kind of file that users may pass by mistake.
struct document_form {
  const char* what;             ///< "a pipeline"
  const char* keys;             ///< its required keys
  const char* foreign_key;      ///< key that only the other kind contains
  const char* foreign;          ///< "an experiment"
  const char* foreign_command;  ///< command for the other kind: "compare"
};

/// Reads a document. Omits top-level keys that begin with "x-", which are for anchors. Returns null
/// after an error, for example if the file is a result or the other kind of file.
node read_document(std::shared_ptr<const source_text> source, const document_form& form,
                   diagnostics& out);

/// Reads `key`, whose value is the name of the document. `what` is the kind of document, such as "a
/// pipeline"; `known` are its top-level keys.
named read_document_name(const node& root, const place& file, const std::string& key,
                         const std::string& what, const std::vector<std::string>& known,
                         diagnostics& out);

/// Returns the member whose unknown key is probably a synonym or a misspelling of the missing
/// `key`; null if there is none.
const node::member* member_meant(const node& mapping, const std::string& key,
                                 const std::vector<std::string>& known);

/// Reports each key that is not in `known`. Suggests the nearest known key, or lists all known keys
/// if none is near.
void check_keys(const node& mapping, std::string_view what, const std::vector<std::string>& known,
                diagnostics& out);

}  // namespace graphline
