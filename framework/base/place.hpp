#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphline {

/// The text of one file that a user wrote, kept so that diagnostics can show its lines.
class source_text {
 public:
  /// `name` is shown in messages (usually the path as the user gave it). A UTF-8 byte order mark at
  /// the beginning of `text` is dropped, so that columns count what one sees.
  source_text(std::string name, std::string text);

  const std::string& name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }

  /// Line `number`, counted from 1, without its end; empty outside the text.
  std::string_view line(std::size_t number) const noexcept;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::size_t> starts_;
};

/// Where something was written. A default-made place is "nowhere": a value built in C++.
struct place {
  std::shared_ptr<const source_text> source;
  std::size_t line = 0;    ///< from 1; 0 when there is no source line
  std::size_t column = 0;  ///< from 1, in bytes
  std::size_t length = 1;  ///< bytes to underline, at least 1

  explicit operator bool() const noexcept { return source != nullptr; }

  bool operator==(const place&) const = default;

  /// Whether it was given on the command line: relative paths start at the working directory then.
  bool on_command_line() const noexcept { return source != nullptr && line == 0; }
};

}  // namespace graphline
