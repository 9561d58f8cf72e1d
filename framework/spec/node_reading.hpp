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

/// Whether `text` may name a pipeline, a stage, a tensor or a parameter: letters (of any script),
/// digits, "_", "-" and ".", at most 100 bytes, and not "." or "..", since names become file names.
bool is_name(std::string_view text) noexcept;

/// Reports what is no name, as "the name of a stage" where `what` says so. Answers `is_name`.
bool check_name(const named& name, std::string_view what, diagnostics& out);

/// Reports what cannot name a configuration or a member of an experiment, as "the name of a member"
/// where `what` says so: an empty text, control characters, more than 100 bytes. Such names are
/// only shown, so that all else may stand in them. Answers whether it is fine.
bool check_label(const named& name, std::string_view what, diagnostics& out);

/// Reads a key's text that must pass one of these checks as the name of `what`. Empty, at its
/// place, where it does not, which is reported.
named read_name(const node& value, std::string_view key, std::string_view what,
                bool (*check)(const named&, std::string_view, diagnostics&), diagnostics& out);

/// Reports each of `list` whose name one before it has, as "a member named 'a' is there already"
/// where `what` is "member". Names that could not be read are empty and passed over.
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

/// The parameter that a scalar stands for: "batch" for an unquoted $batch, else nothing.
std::optional<std::string_view> parameter_reference(const node& n) noexcept;

/// True for a reference in a file that no value took the place of. That has been reported where the
/// parameters were resolved, so typed reading stays quiet about it.
bool is_unresolved(const node& n) noexcept;

/// Whether the value or anything in it is unresolved.
bool holds_unresolved(const node& n) noexcept;

/// Reports "'WHAT' must be EXPECTED, found ..." at the node's place, unless the node is a reference
/// to a parameter that has been reported where parameters were resolved.
void report_mismatch(const node& n, std::string_view what, std::string_view expected,
                     diagnostics& out);

// Typed reading of nodes. Each function reports what is wrong at the node's place, in the form
// "'WHAT' must be a whole number, found 'abc'", and then answers nothing.

std::optional<std::int64_t> read_integer(const node& n, std::string_view what, diagnostics& out);
std::optional<double> read_number(const node& n, std::string_view what, diagnostics& out);
std::optional<bool> read_boolean(const node& n, std::string_view what, diagnostics& out);
std::optional<std::string> read_text(const node& n, std::string_view what, diagnostics& out);

/// A duration with its unit, such as 20ms.
std::optional<nanoseconds> read_duration(const node& n, std::string_view what, diagnostics& out);

/// A part of a whole as a percentage, more than 0 and less than 100: 0.01 for 1%.
std::optional<double> read_percent(const node& n, std::string_view what, diagnostics& out);

/// A list of whole numbers; a single number counts as a list of one.
std::optional<std::vector<std::int64_t>> read_integers(const node& n, std::string_view what,
                                                       diagnostics& out);
std::optional<std::vector<double>> read_numbers(const node& n, std::string_view what,
                                                diagnostics& out);

/// A list of extents, each at least 1, whose product is representable.
std::optional<shape> read_shape(const node& n, std::string_view what, diagnostics& out);
std::optional<dtype> read_dtype(const node& n, std::string_view what, diagnostics& out);

/// One name or a list of names.
std::vector<named> read_names(const node& n, std::string_view what, diagnostics& out);

/// One of `choices`; a near miss is suggested.
std::optional<std::string> read_choice(const node& n, std::string_view what,
                                       const std::vector<std::string>& choices, diagnostics& out);

/// The words of an enumeration, for messages.
template <class T>
std::vector<std::string> word_list() {
  std::vector<std::string> list;
  for (const auto& entry : words_of<T>::table) list.emplace_back(entry.first);
  return list;
}

/// One word of an enumeration of base/words.hpp.
template <class T>
std::optional<T> read_word(const node& n, std::string_view what, diagnostics& out) {
  const auto text = read_choice(n, what, word_list<T>(), out);
  return text ? from_word<T>(*text) : std::nullopt;
}

/// Whether the node is a mapping; reports it if not.
bool check_mapping(const node& n, std::string_view what, diagnostics& out);

/// A kind of file, and one that is easily taken for it.
struct document_form {
  const char* what;             ///< "a pipeline"
  const char* keys;             ///< those that it has at least
  const char* foreign_key;      ///< only the other one has it
  const char* foreign;          ///< "an experiment"
  const char* foreign_command;  ///< that takes it: "compare"
};

/// Reads a text that is to be of a form. Keys at its top that begin with "x-" are the writer's own
/// and left out: what stands there is for anchors. Nothing after an error, as where it is of the
/// other form or a result.
node read_document(std::shared_ptr<const source_text> source, const document_form& form,
                   diagnostics& out);

/// The text of the key at a document's top that names it, as `what`: "a pipeline". Its keys are
/// `known`.
named read_document_name(const node& root, const place& file, const std::string& key,
                         const std::string& what, const std::vector<std::string>& known,
                         diagnostics& out);

/// The member that was meant as `key`, which is missing: one by another word for it, or misspelled,
/// and not among `known`; null without one.
const node::member* member_meant(const node& mapping, const std::string& key,
                                 const std::vector<std::string>& known);

/// Reports every key of a mapping that is not among `known`, with the nearest known one, or all of
/// them where none is near.
void check_keys(const node& mapping, std::string_view what, const std::vector<std::string>& known,
                diagnostics& out);

}  // namespace graphline
