#include "framework/spec/parameter_substitution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Whether `n` is a scalar, or a list of such however deep; reports what is not.
bool is_plain(const node& n, std::string_view name, diagnostics& out) {
  if (n.is_sequence()) {
    bool plain = true;
    for (const node& item : n.items()) plain = is_plain(item, name, out) && plain;
    return plain;
  }
  if (parameter_reference(n)) {
    out.error(n.where(), fmt::format("parameter {} cannot refer to another one ({}); put a text "
                                     "that begins with '$' in quotes",
                                     quote(name), n.describe()));
    return false;
  }
  if (n.is_scalar()) return true;
  out.error(n.where(), fmt::format("the value of parameter {} must be a scalar or a list, found {}",
                                   quote(name), n.describe()));
  return false;
}

/// The value that holds for `backend`: the node itself, or the backend's entry of a mapping. Null
/// if something is wrong with it.
node choose(const node& n, const named& name, const std::string& backend, diagnostics& out) {
  if (!n.is_mapping()) return is_plain(n, name.text, out) ? n : node();
  check_keys(n, "parameter " + quote(name.text), parameter_backends(), out);
  bool plain = true;
  for (const auto& [key, entry] : n.members()) plain = is_plain(entry, name.text, out) && plain;
  if (const node* chosen = n.find(backend)) return plain ? *chosen : node();
  std::vector<std::string> given;
  for (const node::member& m : n.members()) given.push_back(m.key.text);
  out.error(
      name.place,
      fmt::format("parameter {} has no value for the backend '{}' (given: {})", quote(name.text),
                  backend, given.empty() ? "none" : fmt::to_string(fmt::join(given, ", "))));
  return node();
}

/// A copy of a parameter's value as if it had been written at `where`.
node placed(const node& n, const place& where) {
  if (!n.is_sequence()) return node::scalar(n.text(), n.quoted(), where);
  std::vector<node> items;
  for (const node& item : n.items()) items.push_back(placed(item, where));
  return node::sequence(std::move(items), where);
}

/// The place of a value from the command line that is used at `use`: nobody finds the mistake on
/// that line of the file.
place at_option(const std::string& option, const place& use) {
  const std::string where =
      use.source ? fmt::format(" (in {}:{})", use.source->name(), use.line) : std::string();
  return {std::make_shared<source_text>(option + where, "")};
}

/// Whether the options hold a value for the parameter, whatever the file says.
bool is_given(const std::string& name, const reading_options& options) {
  return std::ranges::any_of(options.values,
                             [&](const node::member& m) { return m.key.text == name; }) ||
         std::ranges::any_of(options.set, [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

const std::vector<std::string>& parameter_backends() {
  static const std::vector<std::string> names = {"cuda", "host"};
  return names;
}

parameter_values::parameter_values(const node& section, const reading_options& options,
                                   diagnostics& out) {
  if (!section.is_null() && check_mapping(section, "params", out)) {
    for (const auto& [name, content] : section.members()) {
      if (!check_name(name, "a parameter", out)) continue;
      // A value from elsewhere takes the place of every backend's, so none needs to be given here.
      const bool replaced =
          is_given(name.text, options) && content.is_mapping() && !content.find(options.backend);
      values_.push_back({name, replaced ? node() : choose(content, name, options.backend, out)});
    }
  }
  for (const auto& [name, content] : options.values) apply(name, content, options.backend, out);
  for (const auto& [name, text] : options.set) apply(name, text, out);
}

void parameter_values::apply(const named& name, const node& content, const std::string& backend,
                             diagnostics& out) {
  value* target = find(name.text);
  if (target == nullptr) {
    out.error(name.place, fmt::format("the pipeline has no parameter {}{}", quote(name.text),
                                      values_.empty() ? "" : suggestion(name.text, names())));
    return;
  }
  target->content = choose(content, name, backend, out);
  target->keeps_place = true;
}

void parameter_values::apply(const std::string& name, const std::string& text, diagnostics& out) {
  const std::string written = printable(fmt::format("--set {}={}", name, text));
  value* target = find(name);
  if (target == nullptr) {
    out.error({}, fmt::format("{}: the pipeline has no parameter {}{}", written, quote(name),
                              values_.empty() ? "" : suggestion(name, names())));
    return;
  }
  diagnostics problems;
  node content = read_yaml(std::make_shared<source_text>("--set", text), problems);
  const bool is_block = content.is_sequence() && text.find('[') != text.find_first_not_of(' ');
  if (!problems.has_errors() && content.is_null()) {
    out.error({}, written + ": the value is missing (an empty text is written '')");
  } else if (problems.has_errors() || is_block || !is_plain(content, name, problems)) {
    out.error({}, fmt::format("{}: the value must be a word, a number, or a list such as [1, 2]",
                              written));
  } else {
    target->content = std::move(content);
    target->keeps_place = false;
    target->option = written;
  }
}

node parameter_values::substitute(const node& n, diagnostics& out) {
  if (n.is_sequence()) {
    std::vector<node> items;
    items.reserve(n.items().size());
    for (const node& item : n.items()) items.push_back(substitute(item, out));
    return node::sequence(std::move(items), n.where());
  }
  if (n.is_mapping()) {
    std::vector<node::member> members;
    members.reserve(n.members().size());
    for (const auto& [key, content] : n.members()) {
      members.push_back({key, substitute(content, out)});
    }
    return node::mapping(std::move(members), n.where());
  }
  const auto name = parameter_reference(n);
  if (!name) return n;
  value* found = find(*name);
  if (found == nullptr) {
    out.error(n.where(), fmt::format("unknown parameter {}{}", n.describe(),
                                     values_.empty() ? " (the file has no 'params')"
                                                     : suggestion(*name, names())));
    return n;
  }
  found->used = true;
  if (found->content.is_null()) return n;
  if (found->keeps_place) return found->content;
  return placed(found->content,
                found->option.empty() ? n.where() : at_option(found->option, n.where()));
}

void parameter_values::report_unused(diagnostics& out) const {
  for (const value& v : values_) {
    if (v.used) continue;
    out.warning(v.name.place, fmt::format("parameter {} is never used", quote(v.name.text)));
  }
}

std::vector<std::pair<std::string, std::string>> parameter_values::resolved() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const value& v : values_) {
    if (!v.content.is_null()) list.emplace_back(v.name.text, v.content.in_one_line());
  }
  return list;
}

parameter_values::value* parameter_values::find(std::string_view name) noexcept {
  const auto found = std::ranges::find(
      values_, name, [](const value& v) -> std::string_view { return v.name.text; });
  return found == values_.end() ? nullptr : &*found;
}

std::vector<std::string> parameter_values::names() const {
  std::vector<std::string> list;
  for (const value& v : values_) list.push_back(v.name.text);
  return list;
}

}  // namespace graphline
