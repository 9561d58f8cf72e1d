#include "framework/base/place.hpp"

#include <utility>

namespace graphline {

source_text::source_text(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), starts_{0} {
  if (text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') starts_.push_back(i + 1);
  }
}

std::string_view source_text::line(std::size_t number) const noexcept {
  if (number == 0 || number > starts_.size()) return {};
  const std::size_t begin = starts_[number - 1];
  std::size_t end = number < starts_.size() ? starts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace graphline
