#include "framework/spec/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/tree_builder.hpp"

namespace graphline {
namespace {

bool is_forbidden(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == '\r') return at + 1 == text.size() || text[at + 1] != '\n';
  return c == 0x7f || (c < 0x20 && c != '\t' && c != '\n');
}

place place_of(const std::shared_ptr<const source_text>& source, std::size_t at) {
  const std::string_view before = std::string_view(source->text()).substr(0, at);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t line_end = before.rfind('\n');
  const std::size_t line_start = line_end == std::string_view::npos ? 0 : line_end + 1;
  return {source, line, at - line_start + 1, 1};
}

/// What keeps a text from being YAML before its structure is looked at: bytes that are not UTF-8,
/// or control characters (YAML 1.2, section 5.1). Nothing if it is fine.
std::optional<diagnostic> find_unreadable(const std::shared_ptr<const source_text>& source) {
  const std::string_view text = source->text();
  std::optional<diagnostic> found;
  if (text.find('\0') != std::string_view::npos) {
    found.emplace().place.source = source;
    found->message = "this is a binary file, not YAML";
    return found;
  }
  if (const auto at = first_invalid_utf8(text)) {
    return diagnostic{severity::error, place_of(source, *at),
                      fmt::format("the byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                                  static_cast<unsigned char>(text[*at]))};
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_forbidden(text, at)) continue;
    return diagnostic{severity::error, place_of(source, at),
                      text[at] == '\r'
                          ? "a carriage return without a line feed; use Unix or Windows line ends"
                          : fmt::format("the control character 0x{:02x} cannot stand in YAML",
                                        static_cast<unsigned char>(text[at]))};
  }
  return std::nullopt;
}

/// Hands the parser's events to a tree builder, with places in the source's terms.
class event_translator final : public YAML::EventHandler {
 public:
  event_translator(std::shared_ptr<const source_text> source, diagnostics& out)
      : source_(source), builder_(std::move(source), out) {}

  node take() { return builder_.take(); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      throw unreadable_yaml{place_of(source_, mark),
                            "a second document begins here; put it into a "
                            "file of its own"};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.add_null(place_of(source_, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.add_alias(place_of(source_, mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    builder_.add_scalar(place_of(source_, mark), anchor, value, is_text(tag, mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    is_text(tag, mark);
    builder_.begin(tree_builder::collection::sequence, place_of(source_, mark), anchor);
  }
  void OnSequenceEnd() override { builder_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    is_text(tag, mark);
    builder_.begin(tree_builder::collection::mapping, place_of(source_, mark), anchor);
  }
  void OnMapEnd() override { builder_.end(); }

  /// Where to point for the parser's message: for a bracket that is not closed at the bracket,
  /// since the parser itself stumbles anywhere behind it.
  place place_for(const std::string& message, const YAML::Mark& mark) const {
    const bool is_open_bracket =
        message == YAML::ErrorMsg::END_OF_SEQ_FLOW || message == YAML::ErrorMsg::END_OF_MAP_FLOW;
    const place* innermost = builder_.innermost();
    return is_open_bracket && innermost != nullptr ? *innermost : place_of(source_, mark);
  }

  static place place_of(const std::shared_ptr<const source_text>& source, const YAML::Mark& mark) {
    if (mark.is_null()) return {source};
    return {source, static_cast<std::size_t>(mark.line) + 1,
            static_cast<std::size_t>(mark.column) + 1, 1};
  }

 private:
  /// Whether a tag makes a scalar text. The parser gives "!" to quoted scalars and "?" to others.
  bool is_text(const std::string& tag, const YAML::Mark& mark) const {
    if (tag.empty() || tag == "?") return false;
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return true;
    throw unreadable_yaml{place_of(source_, mark),
                          fmt::format("the tag '{}' has no meaning here", tag)};
  }

  std::shared_ptr<const source_text> source_;
  tree_builder builder_;
  int documents_ = 0;
};

/// The parser's messages name its own states; these name what the writer did.
struct phrase {
  std::string_view theirs;  ///< how the parser's message begins
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

/// A tab that indents makes the parser stumble somewhere after it. Where such a tab stands on the
/// line it stumbled on or right above, that is what is reported.
std::optional<place> tab_near(const std::shared_ptr<const source_text>& source, std::size_t line) {
  for (std::size_t number = line > 2 ? line - 2 : 1; number <= line; ++number) {
    const std::string_view text = source->line(number);
    const std::string_view indent = text.substr(0, text.find_first_not_of(" \t"));
    const std::size_t tab = indent.find('\t');
    if (tab != std::string_view::npos) return place{source, number, tab + 1, indent.size() - tab};
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const source_text> read_source(const std::string& path) {
  constexpr std::size_t largest = std::size_t{16} << 20;
  auto source = read_text_file(path, largest);
  if (const auto problem = find_unreadable(source)) throw input_error(problem->render());
  return source;
}

node read_yaml(std::shared_ptr<const source_text> source, diagnostics& out) {
  if (const auto problem = find_unreadable(source)) {
    out.error(problem->place, problem->message);
    return {};
  }
  event_translator translator(source, out);
  try {
    std::istringstream stream(source->text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(translator)) {
    }
    return translator.take();
  } catch (const unreadable_yaml& problem) {
    out.error(problem.where, problem.message);
  } catch (const YAML::Exception& problem) {
    const place where = translator.place_for(problem.msg, problem.mark);
    if (const std::optional<place> tab = tab_near(source, where.line)) {
      out.error(*tab, "a tab cannot indent; use spaces");
    } else {
      out.error(where, readable(problem.msg));
    }
  }
  return {};
}

}  // namespace graphline
