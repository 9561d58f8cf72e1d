#include "framework/spec/tree_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t most_copied = 100'000;

bool is_merge_key(const node& key) {
  return !key.quoted() && key.text() == "<<";
}

/// The byte after the closing quote of a text whose opening one is at `at`; npos if there is none.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote_mark = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote_mark == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote_mark) {
      const bool doubled = quote_mark == '\'' && i + 1 < text.size() && text[i + 1] == '\'';
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

void tree_builder::add_null(place where, std::size_t anchor) {
  const std::string_view line = source_->line(where.line);
  const std::string_view rest = line.substr(std::min(where.column - 1, line.size()));
  constexpr std::string_view written_nulls[] = {"~", "null", "Null", "NULL"};
  const auto* written = std::ranges::find_if(
      written_nulls, [&](std::string_view word) { return rest.starts_with(word); });
  if (written != std::end(written_nulls)) {
    where.length = written->size();
  } else {
    where = place_of_nothing(where);
  }
  measured m{node::null(std::move(where))};
  remember(m, anchor);
  add(std::move(m));
}

void tree_builder::add_scalar(place where, std::size_t anchor, const std::string& text,
                              bool quoted) {
  measured m{node::scalar(text, quoted, token_at(std::move(where), text))};
  remember(m, anchor);
  add(std::move(m));
}

void tree_builder::add_alias(place where, std::size_t anchor) {
  const std::string_view line = source_->line(where.line);
  const std::size_t end = line.find_first_of(" \t,]}", where.column);
  where.length = std::min(end, line.size()) - (where.column - 1);
  const auto found = anchored_.find(anchor);
  if (found == anchored_.end()) {
    throw unreadable_yaml{where, "this alias stands within what it repeats"};
  }
  const measured& original = found->second;
  if (open_.size() + original.height > deepest) {
    throw unreadable_yaml{where, fmt::format("this alias nests deeper than {} levels", deepest)};
  }
  count_copied(original.nodes, where);
  add(original);
}

void tree_builder::begin(collection kind, place where, std::size_t anchor) {
  if (open_.size() == deepest) {
    throw unreadable_yaml{where, fmt::format("this is nested deeper than {} levels", deepest)};
  }
  open_.push_back({kind, std::move(where), anchor, 1, 1, {}, {}, {}, {}, {}});
}

void tree_builder::end() {
  open_node done = std::move(open_.back());
  open_.pop_back();
  if (done.kind == collection::mapping) add_merged(done);
  measured m{done.kind == collection::mapping
                 ? node::mapping(std::move(done.members), std::move(done.where))
                 : node::sequence(std::move(done.items), std::move(done.where)),
             done.nodes, done.height};
  remember(m, done.anchor);
  add(std::move(m));
}

void tree_builder::remember(const measured& m, std::size_t anchor) {
  if (anchor == 0) return;
  count_copied(m.nodes, m.value.where());
  anchored_[anchor] = m;
}

void tree_builder::add(measured m) {
  if (++nodes_ > most_nodes) {
    throw unreadable_yaml{m.value.where(), fmt::format("more than {} values", most_nodes)};
  }
  if (open_.empty()) {
    root_ = std::move(m.value);
    return;
  }
  open_node& parent = open_.back();
  parent.nodes += m.nodes;
  parent.height = std::max(parent.height, m.height + 1);
  if (parent.kind == collection::sequence) {
    parent.items.push_back(std::move(m.value));
  } else if (!parent.key) {
    parent.key = std::move(m.value);
  } else {
    add_member(parent, std::move(m.value));
  }
}

void tree_builder::add_member(open_node& to, node value) {
  const node key = std::move(*to.key);
  to.key.reset();
  if (!key.is_scalar()) {
    out_.error(key.where(), fmt::format("a key must be a word, found {}", key.describe()));
    return;
  }
  const auto [first, is_new] = to.lines.emplace(key.text(), key.where().line);
  if (!is_new) {
    out_.error(
        key.where(),
        fmt::format("the key {} is there twice, first on line {}{}", quote(key.text()),
                    first->second, is_merge_key(key) ? "; merge several by <<: [*a, *b]" : ""));
  } else if (is_merge_key(key)) {
    to.merges.push_back(std::move(value));
  } else {
    to.members.push_back({{key.text(), key.where()}, std::move(value)});
  }
}

void tree_builder::add_merged(open_node& to) const {
  // A key given here wins over merged ones, and an earlier merged mapping over a later one.
  const auto merge = [&](const node& mapping) {
    if (!mapping.is_mapping()) {
      out_.error(
          mapping.where(),
          fmt::format("'<<' takes a mapping or a list of mappings, found {}", mapping.describe()));
      return;
    }
    for (const node::member& m : mapping.members()) {
      if (to.lines.emplace(m.key.text, m.key.place.line).second) to.members.push_back(m);
    }
  };
  for (const node& value : to.merges) {
    if (value.is_sequence()) {
      std::ranges::for_each(value.items(), merge);
    } else {
      merge(value);
    }
  }
}

void tree_builder::count_copied(std::size_t nodes, const place& where) {
  copied_ += nodes;
  if (copied_ > most_copied) {
    throw unreadable_yaml{
        where, fmt::format("anchors and aliases repeat more than {} values", most_copied)};
  }
}

/// Where a value that was left out belongs: at its key, or at the dash of its item. `next` is what
/// the parser has, the beginning of whatever follows.
place tree_builder::place_of_nothing(const place& next) const {
  if (open_.empty()) return {source_};
  const open_node& parent = open_.back();
  if (parent.key) return parent.key->where();
  for (std::size_t number = next.line; number > 0 && number + 2 > next.line; --number) {
    std::string_view line = source_->line(number);
    if (number == next.line) line = line.substr(0, std::min(next.column - 1, line.size()));
    const std::size_t last = line.find_last_not_of(" \t");
    if (last == std::string_view::npos) continue;
    if (line[last] == '-') return {source_, number, last + 1, 1};
    break;
  }
  return parent.where;
}

/// The scalar whose token begins at `where`, past the anchor and tag it may carry.
place tree_builder::token_at(place where, std::string_view text) const {
  const std::string_view line = source_->line(where.line);
  std::size_t at = std::min(where.column - 1, line.size());
  while (at < line.size() && (line[at] == '&' || line[at] == '!')) {
    const std::size_t next = line.find_first_not_of(" \t", line.find_first_of(" \t", at));
    if (next >= line.size()) break;
    at = next;
  }
  where.column = at + 1;
  if (at >= line.size()) return where;

  // What goes on in the next line is marked to the end of this one.
  where.length = line.find_last_not_of(" \t") + 1 - at;
  if (line[at] == '"' || line[at] == '\'') {
    const std::string_view rest(line.data() + at, source_->text().data() + source_->text().size());
    const std::size_t end = end_of_quoted(rest, 0);
    // The parser takes the end of the file for the closing quote.
    if (end == std::string_view::npos) {
      throw unreadable_yaml{where, "this quoted text has no closing quote"};
    }
    where.length = std::min(where.length, end);
  } else if (line.substr(at).starts_with(text)) {
    where.length = std::max<std::size_t>(text.size(), 1);
  }
  return where;
}

}  // namespace graphline
