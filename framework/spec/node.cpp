#include "framework/spec/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "framework/base/utf8.hpp"

namespace graphline {

node::node(const char* text) : node(std::string(text)) {}
node::node(std::string text) : form_(form::scalar), text_(std::move(text)) {}
node::node(int value) : node(fmt::to_string(value)) {}
node::node(std::int64_t value) : node(fmt::to_string(value)) {}
node::node(double value) : node(fmt::to_string(value)) {}
node::node(bool value) : node(value ? "true" : "false") {}

node node::scalar(std::string text, bool quoted, place where) {
  node n(std::move(text));
  n.quoted_ = quoted;
  n.where_ = std::move(where);
  return n;
}

node node::null(place where) {
  node n;
  n.where_ = std::move(where);
  return n;
}

node node::sequence(std::vector<node> items, place where) {
  node n;
  n.form_ = form::sequence;
  n.items_ = std::move(items);
  n.where_ = std::move(where);
  return n;
}

node node::mapping(std::vector<member> members, place where) {
  node n;
  n.form_ = form::mapping;
  n.members_ = std::move(members);
  n.where_ = std::move(where);
  return n;
}

const node* node::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(
      members_, key, [](const member& m) -> std::string_view { return m.key.text; });
  return found == members_.end() ? nullptr : &found->value;
}

bool node::operator==(const node& other) const {
  return form_ == other.form_ && quoted_ == other.quoted_ && text_ == other.text_ &&
         items_ == other.items_ && members_ == other.members_ && where_ == other.where_;
}

std::string node::describe() const {
  switch (form_) {
    case form::null:
      return "nothing";
    case form::scalar:
      return quote(text_);
    case form::sequence:
      return "a list";
    case form::mapping:
      return "a mapping";
  }
  return "nothing";
}

std::string node::in_one_line() const {
  std::vector<std::string> parts;
  switch (form_) {
    case form::null:
      return "null";
    case form::scalar:
      return text_;
    case form::sequence:
      for (const node& item : items_) parts.push_back(item.in_one_line());
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case form::mapping:
      for (const member& m : members_) parts.push_back(m.key.text + ": " + m.value.in_one_line());
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return {};
}

}  // namespace graphline
