#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/place.hpp"

namespace graphline {

/// Text from user input, with its place.
struct named {
  std::string text;
  graphline::place place = {};

  bool operator==(const named&) const = default;
};

/// An unchecked value (null, scalar, sequence or mapping) and its place.
class node {
 public:
  enum class form { null, scalar, sequence, mapping };
  struct member;

  node() = default;
  /// Makes an unquoted scalar; numbers and booleans become YAML text.
  node(const char* text);
  node(std::string text);
  node(int value);
  node(std::int64_t value);
  node(double value);
  node(bool value);

  /// Makes a scalar read from a file. If `quoted`, it is always text.
  static node scalar(std::string text, bool quoted, place where);
  static node null(place where);
  static node sequence(std::vector<node> items, place where = {});
  static node mapping(std::vector<member> members, place where = {});

  graphline::node::form form() const noexcept { return form_; }
  bool is_null() const noexcept { return form_ == form::null; }
  bool is_scalar() const noexcept { return form_ == form::scalar; }
  bool is_sequence() const noexcept { return form_ == form::sequence; }
  bool is_mapping() const noexcept { return form_ == form::mapping; }

  const graphline::place& where() const noexcept { return where_; }
  const std::string& text() const noexcept { return text_; }  ///< of a scalar
  bool quoted() const noexcept { return quoted_; }
  const std::vector<node>& items() const noexcept { return items_; }        ///< of a sequence
  const std::vector<member>& members() const noexcept { return members_; }  ///< of a mapping

  /// Returns the value of `key` in a mapping, or null.
  const node* find(std::string_view key) const noexcept;

  /// Returns a text for messages: "nothing", "'abc'", "a list", "a mapping".
  std::string describe() const;

  /// Returns the value as one line of YAML without quotes: "[1, 2]", "{cuda: 32, host: 1}".
  std::string in_one_line() const;

  /// Compares values and places.
  bool operator==(const node&) const;

 private:
  enum form form_ = form::null;
  bool quoted_ = false;
  std::string text_;
  std::vector<node> items_;
  std::vector<member> members_;
  graphline::place where_;
};

/// A key of a mapping and its value.
struct node::member {
  named key;
  node value;

  bool operator==(const member&) const = default;
};

}  // namespace graphline
