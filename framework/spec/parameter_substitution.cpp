#include "framework/spec/parameter_substitution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Returns true for a scalar or a (nested) list of scalars. Reports all other values.
bool is_plain(const node& n, std::string_view name, diagnostics& out) {
  if (n.is_sequence()) {
    bool plain = true;
    for (const node& item : n.items()) plain = is_plain(item, name, out) && plain;
    return plain;
  }
  if (n.is_scalar() && !parameter_reference(n)) return true;
  out.error(n.where(),
            fmt::format("the value of parameter {} must be a scalar or a list, found {}; "
                        "put a text that begins with '$' in quotes",
                        quote(name), n.describe()));
  return false;
}

std::string lacks(const named& name, const std::string& backend) {
  return fmt::format("parameter {} has no value for the backend '{}'", quote(name.text), backend);
}

/// Returns `n`, or its entry for `backend` if `n` is a mapping. Null after an error.
node choose(const node& n, const named& name, const std::string& backend, diagnostics& out) {
  if (!n.is_mapping()) return is_plain(n, name.text, out) ? n : node();
  check_keys(n, "parameter " + quote(name.text), parameter_backends(), out);
  bool plain = true;
  for (const auto& [key, entry] : n.members()) plain = is_plain(entry, name.text, out) && plain;
  if (const node* chosen = n.find(backend)) return plain ? *chosen : node();
  out.error(name.place, lacks(name, backend));
  return node();
}

/// Returns a copy of a value with all its nodes at one place.
node placed(const node& n, const place& where) {
  if (n.is_mapping()) return node::mapping(n.members(), where);
  if (!n.is_sequence()) return node::scalar(n.text(), n.quoted(), where);
  std::vector<node> items;
  for (const node& item : n.items()) items.push_back(placed(item, where));
  return node::sequence(std::move(items), where);
}

/// Parses an option such as "--set side=3". Empty after an error.
std::optional<node::member> read_option(const std::string& name, const std::string& text,
                                        diagnostics& out) {
  const place at{std::make_shared<source_text>(fmt::format("--set {}={}", name, text), "")};
  diagnostics problems;
  const node content = read_yaml(std::make_shared<source_text>("--set", text), problems);
  if (!problems.has_errors() && !content.is_null()) return {{{name, at}, placed(content, at)}};
  out.error(at,
            "the value must be a word, a number, or a list such as [1, 2]; an empty text is ''");
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& parameter_backends() {
  static const std::vector<std::string> names = {"cuda", "host"};
  return names;
}

parameter_values::parameter_values(const node& section, const reading_options& options,
                                   diagnostics& out)
    : backend_(options.backend), several_(options.several_backends) {
  std::vector<node::member> given = options.values;
  for (const auto& [name, text] : options.set) {
    if (auto option = read_option(name, text, out)) given.push_back(std::move(*option));
  }
  if (!section.is_null() && check_mapping(section, "params", out)) {
    for (const node::member& declared : section.members()) {
      const auto& name = declared.key;
      if (!check_name(name, "a parameter", out)) continue;
      // An option or another file gives the value, so a missing backend is no error.
      const bool replaced = std::ranges::any_of(
          given, [&](const node::member& m) { return m.key.text == name.text; });
      value& of = values_.emplace_back(value{name, {}});
      if (!replaced) set(of, declared.value, name, out);
    }
  }
  for (const auto& [name, content] : given) {
    if (value* target = find(name.text)) {
      set(*target, content, name, out);
    } else {
      out.error(name.place, fmt::format("the pipeline has no parameter {}{}", quote(name.text),
                                        suggestion(name.text, names())));
    }
  }
}

void parameter_values::set(value& of, const node& written, const named& name, diagnostics& out) {
  const std::size_t before = out.all().size();
  const bool lacking = several_ && written.is_mapping() && written.find(backend_) == nullptr;
  const std::string any =
      lacking && !written.members().empty() ? written.members().front().key.text : backend_;
  of.content = choose(written, name, any, out);  // checks all values
  if (written.is_mapping() && out.all().size() == before) of.by_backend = written;
  if (lacking) of.content = node();
}

void parameter_values::choose_for(const std::string& backend) {
  backend_ = backend;
  for (value& v : values_) {
    if (v.by_backend.is_null()) continue;
    const node* chosen = v.by_backend.find(backend);
    v.content = chosen != nullptr ? *chosen : node();
  }
}

bool parameter_values::refuse_part(const node& n, diagnostics& out) {
  if (!n.is_scalar() || n.quoted()) return false;
  for (value& v : values_) {
    const std::string reference = "$" + v.name.text;
    if (!n.text().starts_with(reference + '/')) continue;
    v.used = true;
    out.error(n.where(), fmt::format("a parameter stands for a whole value, not for the beginning "
                                     "of {}; make all of it the parameter's value, or put it in "
                                     "quotes if it is to begin with '$'",
                                     n.describe()));
    return true;
  }
  return false;
}

node parameter_values::substitute(const node& n, diagnostics& out) {
  if (exhausted_) return node();
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
  if (parameter_reference(n)) return replaced(n, out);
  if (!refuse_part(n, out)) return n;
  // Returns only `$name`, so that readers report no follow-on errors.
  return node::scalar(n.text().substr(0, n.text().find('/')), false, n.where());
}

node parameter_values::replaced(const node& n, diagnostics& out) {
  const auto name = *parameter_reference(n);
  value* found = find(name);
  if (found == nullptr) {
    out.error(n.where(), fmt::format("unknown parameter {}{}", n.describe(),
                                     values_.empty() ? " (the file has no 'params')"
                                                     : suggestion(name, names())));
    return n;
  }
  found->used = true;
  if (found->content.is_null()) {
    if (!found->by_backend.is_null()) out.error(n.where(), lacks(found->name, backend_));
    return n;
  }
  if (budget_.take_all(found->content)) return found->content;
  exhausted_ = true;
  out.error(n.where(), beyond_budget("parameters"));
  return node();
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
