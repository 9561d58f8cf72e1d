#include "framework/spec/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/node_budget.hpp"

namespace graphline {
namespace {

/// Thrown for text that the parser accepts but Graphline does not.
struct unreadable_yaml {
  place where;
  std::string message;
};

bool is_forbidden(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == '\r') return at + 1 == text.size() || text[at + 1] != '\n';
  return c == 0x7f || (c < 0x20 && c != '\t' && c != '\n');
}

place place_at(const std::shared_ptr<const source_text>& source, std::size_t at) {
  const std::string_view before = std::string_view(source->text()).substr(0, at);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t line_end = before.rfind('\n');
  const std::size_t line_start = line_end == std::string_view::npos ? 0 : line_end + 1;
  return {source, line, at - line_start + 1, 1};
}

/// Finds invalid UTF-8 and control characters (YAML 1.2, section 5.1); empty if there are none.
std::optional<diagnostic> find_unreadable(const std::shared_ptr<const source_text>& source) {
  const std::string_view text = source->text();
  std::optional<diagnostic> found;
  if (text.find('\0') != std::string_view::npos) {
    found.emplace().place.source = source;
    found->message = "this is a binary file, not YAML";
    return found;
  }
  if (const auto at = first_invalid_utf8(text)) {
    return diagnostic{severity::error, place_at(source, *at),
                      fmt::format("the byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                                  static_cast<unsigned char>(text[*at]))};
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_forbidden(text, at)) continue;
    return diagnostic{severity::error, place_at(source, at),
                      text[at] == '\r'
                          ? "a carriage return without a line feed; use Unix or Windows line ends"
                          : fmt::format("the control character 0x{:02x} cannot stand in YAML",
                                        static_cast<unsigned char>(text[at]))};
  }
  return std::nullopt;
}

/// Returns the offset of the first character that looks like a space or is invisible; npos if none.
std::size_t find_lookalike(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8_character character = utf8_at(text, at);
    if (character.code && !lookalike_of_space(*character.code).empty()) return at;
    at += character.bytes;
  }
  return std::string_view::npos;
}

/// Returns the error for the lookalike of a space at byte `at` of a line.
unreadable_yaml lookalike_at(const std::shared_ptr<const source_text>& source, std::size_t line,
                             std::size_t at) {
  const auto [code, bytes] = utf8_at(source->line(line), at);
  return {{source, line, at + 1, bytes},
          fmt::format("the character U+{:04X} ({}) is not a space to YAML; type a plain space or "
                      "remove it",
                      static_cast<std::uint32_t>(*code), lookalike_of_space(*code))};
}

// The parser reports the mistakes below on a later line. The next two functions search that line
// and two lines above it. The third searches the nearest line with text above it.

/// Returns the error for the first lookalike of a space outside comments.
std::optional<unreadable_yaml> lookalike_near(const std::shared_ptr<const source_text>& source,
                                              std::size_t line) {
  for (std::size_t number = line > 2 ? line - 2 : 1; number <= line; ++number) {
    std::string_view text = source->line(number);
    text = text.substr(0, text.starts_with('#') ? 0 : text.find(" #"));
    const std::size_t at = find_lookalike(text);
    if (at != std::string_view::npos) return lookalike_at(source, number, at);
  }
  return std::nullopt;
}

/// Returns the place of a tab used as indentation.
std::optional<place> tab_near(const std::shared_ptr<const source_text>& source, std::size_t line) {
  for (std::size_t number = line > 2 ? line - 2 : 1; number <= line; ++number) {
    const std::string_view text = source->line(number);
    const std::string_view indent = text.substr(0, text.find_first_not_of(" \t"));
    const std::size_t tab = indent.find('\t');
    if (tab != std::string_view::npos) return place{source, number, tab + 1, indent.size() - tab};
  }
  return std::nullopt;
}

/// Returns the place of the previous line if it has the same indentation and no ':'. The parser has
/// joined such a line with the key below.
std::optional<place> missing_colon_above(const std::shared_ptr<const source_text>& source,
                                         std::size_t line) {
  const std::string_view below = source->line(line);
  const std::size_t indent = below.find_first_not_of(' ');
  while (line > 1) {
    const std::string_view text = source->line(--line);
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos || text[begin] == '#') continue;
    const std::size_t end = text.find_last_not_of(' ') + 1;
    if (begin != indent || text.find(':') != std::string_view::npos) return std::nullopt;
    return place{source, line, begin + 1, end - begin};
  }
  return std::nullopt;
}

constexpr std::size_t max_depth = 64;  // levels of nested lists and mappings

std::string too_deep() {
  return fmt::format("this is nested deeper than {} levels", max_depth);
}

place place_of(const std::shared_ptr<const source_text>& source, const YAML::Mark& mark) {
  if (mark.is_null()) return {source};
  return {source, static_cast<std::size_t>(mark.line) + 1,
          static_cast<std::size_t>(mark.column) + 1, 1};
}

/// Returns the offset after the closing quote of a text that begins with a quote; npos without one.
std::size_t end_of_quoted(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[0] == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      const bool doubled = text[0] == '\'' && i + 1 < text.size() && text[i + 1] == '\'';
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

/// Converts the parser's tree to nodes with places. The parser gives only the beginning of a value,
/// so its end is searched in the source. Resolves merge keys. Reports duplicate and non-scalar
/// keys. Throws `unreadable_yaml` if the tree with its aliases exceeds a limit of depth or size.
class tree_converter {
 public:
  tree_converter(std::shared_ptr<const source_text> source, diagnostics& out)
      : source_(std::move(source)), out_(out) {}

  /// An omitted value gets the place `owner`. `depth` counts the enclosing lists and mappings.
  node convert(const YAML::Node& from, const place& owner, std::size_t depth = 0) {
    place where = place_of(source_, from.Mark());
    if (!budget_.take(from.IsScalar() ? from.Scalar().size() : 0)) {
      throw unreadable_yaml{where, beyond_budget("aliases")};
    }
    const bool text = is_text(from.Tag(), where);
    if (from.IsScalar()) {
      if (!text) refuse_lookalike_between(where, from.Scalar());
      return node::scalar(from.Scalar(), text, token_at(std::move(where), from.Scalar()));
    }
    if (!from.IsSequence() && !from.IsMap()) return node::null(place_of_null(where, owner));
    if (depth == max_depth) throw unreadable_yaml{where, too_deep()};
    if (from.IsMap()) return node::mapping(members_of(from, depth), where);
    std::vector<node> items;
    for (const YAML::Node& item : from) items.push_back(convert(item, where, depth + 1));
    return node::sequence(std::move(items), where);
  }

 private:
  static constexpr std::size_t npos = std::string_view::npos;

  /// Throws at the first lookalike of a space at or after a place.
  void refuse_lookalike_from(const place& where) const {
    for (std::size_t number = where.line, column = where.column; column > 0; ++number, column = 1) {
      const std::string_view line = source_->line(number);
      const std::size_t begin = std::min(column - 1, line.size());
      const std::size_t at = find_lookalike(line.substr(begin));
      if (at != npos) throw lookalike_at(source_, number, begin + at);
      if (line.data() + line.size() >= source_->text().data() + source_->text().size()) return;
    }
  }

  /// Throws if a plain scalar contains a lookalike of a space where YAML needs a space: after a
  /// key's ':', after an item's '-', or as indentation.
  void refuse_lookalike_between(const place& where, std::string_view scalar) const {
    std::size_t at = find_lookalike(scalar);
    if (at == npos) return;
    const std::string_view line = source_->line(where.line);
    const std::string_view before = line.substr(0, std::min(where.column - 1, line.size()));
    const bool several_lines = !line.substr(before.size()).starts_with(scalar);
    const bool behind_key = before.find(": ") != npos;
    for (; at < scalar.size(); ++at) {
      if (find_lookalike(scalar.substr(at, utf8_at(scalar, at).bytes)) == npos) continue;
      const char previous = at == 0 ? '\0' : scalar[at - 1];
      const bool item = previous == '-' && at == 1;
      const bool value = previous == ':' && (several_lines || !behind_key);
      if (item || value || (previous == ' ' && several_lines)) refuse_lookalike_from(where);
    }
  }

  std::vector<node::member> members_of(const YAML::Node& mapping, std::size_t depth) {
    std::vector<node::member> members;
    std::vector<node> merges;
    std::unordered_map<std::string, std::size_t> lines;
    for (const auto& entry : mapping) {
      const node key = convert(entry.first, place_of(source_, mapping.Mark()), depth + 1);
      node value = convert(entry.second, key.where(), depth + 1);
      if (!key.is_scalar()) {
        out_.error(key.where(), fmt::format("a key must be a word, found {}", key.describe()));
        continue;
      }
      if (const std::size_t at = find_lookalike(key.text()); at != npos && !key.quoted()) {
        refuse_lookalike_from(key.where());
      }
      const bool merge = !key.quoted() && key.text() == "<<";
      const auto [first, is_new] = lines.emplace(key.text(), key.where().line);
      if (!is_new) {
        out_.error(key.where(),
                   fmt::format("the key {} is there twice, first on line {}{}", quote(key.text()),
                               first->second, merge ? "; merge several by <<: [*a, *b]" : ""));
      } else if (merge) {
        merges = value.is_sequence() ? value.items() : std::vector<node>{value};
      } else {
        members.push_back({{key.text(), key.where()}, std::move(value)});
      }
    }
    // A mapping's own keys override merged keys. Earlier merged mappings override later ones.
    for (const node& merged : merges) {
      if (!merged.is_mapping()) {
        out_.error(merged.where(),
                   "'<<' takes a mapping or a list of mappings, found " + merged.describe());
      }
      for (const node::member& m : merged.members()) {
        if (lines.emplace(m.key.text, m.key.place.line).second) members.push_back(m);
      }
    }
    return members;
  }

  /// Returns true if a tag marks text. The parser tags quoted scalars "!" and plain scalars "?".
  static bool is_text(const std::string& tag, const place& where) {
    if (tag.empty() || tag == "?") return false;
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return true;
    throw unreadable_yaml{where, fmt::format("the tag '{}' has no meaning here", tag)};
  }

  /// Returns the place of a null. For an omitted value, the parser gives the place of the next
  /// token.
  place place_of_null(place where, const place& owner) const {
    const std::string_view line = source_->line(where.line);
    const std::string_view rest = line.substr(std::min(where.column - 1, line.size()));
    for (const std::string_view written : {"~", "null", "Null", "NULL"}) {
      if (!rest.starts_with(written)) continue;
      where.length = written.size();
      return where;
    }
    // An omitted list item gets the place of its dash, on this line or the line above.
    for (std::size_t number = where.line; number > 0 && number + 2 > where.line; --number) {
      std::string_view before = source_->line(number);
      if (number == where.line) before = before.substr(0, where.column - 1);
      const std::size_t last = before.find_last_not_of(" \t");
      if (last == std::string_view::npos) continue;
      return before[last] == '-' ? place{source_, number, last + 1, 1} : owner;
    }
    return owner;
  }

  /// Returns the place of the scalar at `where`, after its anchor and tag.
  place token_at(place where, std::string_view text) const {
    const std::string_view line = source_->line(where.line);
    std::size_t at = std::min(where.column - 1, line.size());
    while (at < line.size() && (line[at] == '&' || line[at] == '!')) {
      const std::size_t next = line.find_first_not_of(" \t", line.find_first_of(" \t", at));
      if (next >= line.size()) break;
      at = next;
    }
    where.column = at + 1;
    if (at >= line.size()) return where;

    // If a scalar continues on the next line, the place covers only its first line.
    where.length = line.find_last_not_of(" \t") + 1 - at;
    if (line[at] == '"' || line[at] == '\'') {
      const std::string& all = source_->text();
      const std::string_view rest(line.data() + at, all.data() + all.size());
      const std::size_t end = end_of_quoted(rest);
      // The parser accepts the end of the file instead of a closing quote.
      if (end == std::string_view::npos) {
        throw unreadable_yaml{where, "this quoted text has no closing quote"};
      }
      where.length = std::min(where.length, end);
    } else if (line.substr(at).starts_with(text)) {
      where.length = std::max<std::size_t>(text.size(), 1);
    }
    return where;
  }

  std::shared_ptr<const source_text> source_;
  diagnostics& out_;
  node_budget budget_;
};

/// Counts the values before the parser builds a tree, which takes 0.5 KiB per value. Refuses a
/// second document, which `YAML::Load` ignores. (`YAML::LoadAll` never returns for some damaged
/// texts.)
void refuse_what_cannot_be_loaded(const std::shared_ptr<const source_text>& source) {
  struct counter final : YAML::EventHandler {
    explicit counter(const std::shared_ptr<const source_text>& text) : source(text) {}

    void count(const YAML::Mark& mark) {
      if (!budget.take(0)) throw unreadable_yaml{place_of(source, mark), beyond_budget("aliases")};
    }
    void OnDocumentStart(const YAML::Mark& mark) override {
      if (++documents < 2) return;
      throw unreadable_yaml{place_of(source, mark),
                            "a second document begins here; put it into a file of its own"};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  const std::string&) override {
      count(mark);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
      count(mark);
    }
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
      count(mark);
    }
    void OnMapEnd() override {}

    const std::shared_ptr<const source_text>& source;
    std::size_t documents = 0;
    node_budget budget;
  };
  std::istringstream stream(source->text());
  YAML::Parser parser(stream);
  counter seen(source);
  while (parser.HandleNextDocument(seen)) continue;
}

/// Replaces messages of the parser, because they describe its state instead of the mistake.
struct phrase {
  std::string_view theirs;  ///< beginning of the parser's message
  std::string_view ours;
};
const phrase phrases[] = {
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, "this list is not closed: a ',' or a ']' is missing"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "this mapping is not closed: a ',' or a '}' is missing"},
    {YAML::ErrorMsg::END_OF_MAP, "this line does not line up with the keys above it"},
    {YAML::ErrorMsg::END_OF_SEQ, "this line does not line up with the list above it"},
    {YAML::ErrorMsg::FLOW_END, "this closing bracket does not match an open one"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "a quoted text has no closing quote"},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "a quoted text has no closing quote"},
    {YAML::ErrorMsg::MAP_VALUE,
     "a ':' cannot stand here (check the indentation; a text that holds ': ' needs quotes)"},
    {YAML::ErrorMsg::MAP_KEY, "a '?' cannot stand here"},
    {YAML::ErrorMsg::BLOCK_ENTRY, "a '-' cannot stand here (check the indentation)"},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab cannot indent; use spaces"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, "a text cannot begin with this character; put it in quotes"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, "there is no anchor of this name before its use"},
    {YAML::ErrorMsg::INVALID_ESCAPE,
     "an unknown escape in a text in double quotes (single quotes keep backslashes)"},
};

std::string readable(std::string_view message) {
  for (const auto& [theirs, ours] : phrases) {
    if (message.starts_with(theirs)) return std::string(ours);
  }
  return fmt::format("this is not YAML: {}", message);
}

/// Returns true for a word or number that YAML reads as it is. Most options and defaults are, and a
/// search of a thousand combinations would spend most of its planning on parsing them.
bool is_plain_word(std::string_view text) {
  constexpr std::string_view word =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return !text.empty() && text.front() != '.' && text.find_first_not_of(word) == text.npos &&
         text != "null" && text != "Null" && text != "NULL";
}

}  // namespace

std::shared_ptr<const source_text> read_source(const std::string& path, named_by who) {
  constexpr std::size_t largest = std::size_t{16} << 20;
  auto source = read_text_file(path, largest, who);
  if (const auto problem = find_unreadable(source)) throw unreadable_file(*problem);
  return source;
}

node read_yaml(std::shared_ptr<const source_text> source, diagnostics& out) {
  if (is_plain_word(source->text())) {
    return node::scalar(source->text(), false, {source, 1, 1, source->text().size()});
  }
  if (const auto problem = find_unreadable(source)) {
    out.error(problem->place, problem->message);
    return {};
  }
  try {
    refuse_what_cannot_be_loaded(source);
    return tree_converter(source, out).convert(YAML::Load(source->text()), {source});
  } catch (const unreadable_yaml& problem) {
    out.error(problem.where, problem.message);
  } catch (const YAML::DeepRecursion& problem) {
    out.error(place_of(source, problem.mark), too_deep());
  } catch (const YAML::Exception& problem) {
    const place where = place_of(source, problem.mark);
    if (const auto lookalike = lookalike_near(source, where.line)) {
      out.error(lookalike->where, lookalike->message);
    } else if (const std::optional<place> tab = tab_near(source, where.line)) {
      out.error(*tab, "a tab cannot indent; use spaces");
    } else if (const auto above = missing_colon_above(source, where.line);
               above && problem.msg == YAML::ErrorMsg::MAP_VALUE) {
      out.error(*above, "a ':' is missing behind this key");
    } else {
      out.error(where, readable(problem.msg));
    }
  }
  return {};
}

}  // namespace graphline
