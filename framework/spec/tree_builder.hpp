#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Why the rest of a YAML text cannot be read: thrown out of the parser by what builds its tree.
struct unreadable_yaml {
  place where;
  std::string message;
};

/// Builds a node from the events of a YAML parser: values in the order written, and lists and
/// mappings opened and closed around them. Resolves aliases and merge keys; reports duplicate keys
/// and keys that are not words. Bounds depth and size, so that no text can exhaust stack or memory:
/// beyond them, `unreadable_yaml` is thrown.
///
/// Places come with the beginning of what they mean; how far it reaches is found in the source.
/// `anchor` is the parser's number of the anchor that a value carries, 0 for none.
class tree_builder {
 public:
  enum class collection { sequence, mapping };

  tree_builder(std::shared_ptr<const source_text> source, diagnostics& out)
      : source_(std::move(source)), out_(out) {}

  void add_null(place where, std::size_t anchor);
  void add_scalar(place where, std::size_t anchor, const std::string& text, bool quoted);
  void add_alias(place where, std::size_t anchor);
  void begin(collection kind, place where, std::size_t anchor);
  void end();

  /// The whole document, once its last event has been handled; null if there was none.
  node take() { return std::move(root_); }

  /// Where the innermost list or mapping that is open begins, or null.
  const place* innermost() const { return open_.empty() ? nullptr : &open_.back().where; }

 private:
  /// A value with what it takes to bound copies of it.
  struct measured {
    node value;
    std::size_t nodes = 1;   ///< it and everything within
    std::size_t height = 0;  ///< levels of lists and mappings, itself included
  };
  /// A list or mapping whose end has not been seen.
  struct open_node {
    collection kind;
    place where;
    std::size_t anchor;
    std::size_t nodes = 1;
    std::size_t height = 1;
    std::vector<node> items;
    std::vector<node::member> members;
    std::vector<node> merges;
    std::unordered_map<std::string, std::size_t> lines;  ///< of the keys
    std::optional<node> key;                             ///< read, its value not yet
  };

  void remember(const measured& m, std::size_t anchor);
  void add(measured m);
  void add_member(open_node& to, node value);
  void add_merged(open_node& to) const;
  void count_copied(std::size_t nodes, const place& where);
  place place_of_nothing(const place& next) const;
  place token_at(place where, std::string_view text) const;

  std::shared_ptr<const source_text> source_;
  diagnostics& out_;
  std::vector<open_node> open_;
  std::unordered_map<std::size_t, measured> anchored_;
  std::size_t nodes_ = 0;
  std::size_t copied_ = 0;
  node root_;
};

}  // namespace graphline
