#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace graphline {

/// Buffers text and passes it on in pieces, because a long trace takes gigabytes.
class text_sink {
 public:
  using take_function = std::function<void(std::string_view piece)>;

  explicit text_sink(take_function take) : take_(std::move(take)) { held_.reserve(most_held); }

  text_sink& append(std::string_view text) {
    if (held_.size() + text.size() > most_held) flush();
    if (text.size() > most_held) {
      take_(text);
    } else {
      held_ += text;
    }
    return *this;
  }

  /// Passes on the buffered text. Call it at the end; the destructor does not flush.
  void flush() {
    if (held_.empty()) return;
    take_(held_);
    held_.clear();
  }

 private:
  static constexpr std::size_t most_held = std::size_t{1} << 18;

  std::string held_;
  take_function take_;
};

/// Returns the text that `write(text_sink&, given...)` writes.
template <class Write, class... Given>
std::string text_by(Write write, const Given&... given) {
  std::string text;
  text_sink sink([&text](std::string_view piece) { text += piece; });
  write(sink, given...);
  sink.flush();
  return text;
}

}  // namespace graphline
