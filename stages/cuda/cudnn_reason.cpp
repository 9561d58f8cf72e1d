#include "stages/cuda/cudnn_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace graphline {
namespace {

constexpr std::size_t longest = 400;

std::string reasons_of_engines(const std::string& log) {
  constexpr std::string_view engine = "\"engineId\":";
  constexpr std::string_view because = "Reason: ";
  std::string reasons;
  std::size_t at = log.find(engine);
  while (at != std::string::npos) {
    const std::size_t number = at + engine.size();
    const std::size_t reason = log.find(because, number);
    if (reason == std::string::npos) break;
    const std::size_t begin = reason + because.size();
    reasons += fmt::format("{}engine {}: {}", reasons.empty() ? "" : "; ",
                           log.substr(number, log.find_first_of(",}", number) - number),
                           log.substr(begin, log.find('\n', begin) - begin));
    at = log.find(engine, begin);
  }
  return reasons;
}

}  // namespace

std::string reason_in(const std::string& message) {
  std::string text = reasons_of_engines(message);
  if (text.empty()) text = message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text.empty() ? "no reason given" : text;
}

bool is_about_support(const std::string& message) {
  const std::size_t status = message.rfind("CUDNN_STATUS_");
  // What follows the log is the status of the call; a line of the log is not.
  if (status == std::string::npos || message.find_first_of(" \n;)", status) != std::string::npos) {
    return true;
  }
  constexpr std::array<std::string_view, 5> otherwise = {
      "ALLOC_FAILED", "ALLOCATION_FAILED", "OUT_OF_MEMORY", "EXECUTION_FAILED", "NOT_INITIALIZED"};
  return std::none_of(otherwise.begin(), otherwise.end(), [&](std::string_view word) {
    return message.find(word, status) != std::string::npos;
  });
}

}  // namespace graphline
