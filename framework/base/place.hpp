#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphline {

/// The text of an input file, kept so that diagnostics can show its lines.
class source_text {
 public:
  /// `name` appears in messages. Removes a leading UTF-8 byte order mark, which shifts columns.
  source_text(std::string name, std::string text);

  const std::string& name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }

  /// Returns line `number`, counted from 1, without its line end; empty beyond the text.
  std::string_view line(std::size_t number) const noexcept;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::size_t> starts_;
};

/// The source location of a value. Default-constructed for values built in C++.
struct place {
  std::shared_ptr<const source_text> source;
  std::size_t line = 0;    ///< from 1; 0 when there is no source line
  std::size_t column = 0;  ///< from 1, in bytes
  std::size_t length = 1;  ///< bytes to underline, at least 1

  explicit operator bool() const noexcept { return source != nullptr; }

  bool operator==(const place&) const = default;

  /// True for command-line options. Relative paths in options start at the working directory.
  bool on_command_line() const noexcept { return source != nullptr && line == 0; }
};

}  // namespace graphline
