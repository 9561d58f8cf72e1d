#include "framework/report/html/timeline_frames.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

constexpr std::int64_t none = -1;

std::int64_t or_none(std::optional<std::size_t> index) {
  return index ? static_cast<std::int64_t>(*index) : none;
}

std::size_t bytes_of(const std::vector<nanoseconds>& row) {
  std::size_t bytes = 2;  // brackets; a comma after each number
  for (const auto value : row) {
    auto rest = value < 0 ? (++bytes, value) : -value;  // the lowest has no opposite
    do {
      ++bytes;
      rest /= 10;
    } while (rest != 0);
    ++bytes;
  }
  return bytes;
}

std::string_view word_of(timeline_lane::kind kind) {
  switch (kind) {
    case timeline_lane::kind::thread:
      return "thread";
    case timeline_lane::kind::stream:
      return "stream";
    case timeline_lane::kind::copies:
      break;
  }
  return "copies";
}

}  // namespace

timeline_frames::timeline_frames(const run_record& record, std::size_t budget)
    : record_(record), timeline_(record), attributor_(record), left_(budget) {}

bool timeline_frames::keep(std::size_t frame) {
  if (rows_.count(frame) != 0) return true;
  auto made = row_of(frame);
  const auto bytes = bytes_of(made);
  if (bytes > left_) return false;
  left_ -= bytes;
  rows_.emplace(frame, std::move(made));
  return true;
}

void timeline_frames::keep_anyhow(std::size_t frame) {
  if (rows_.count(frame) != 0) return;
  auto made = row_of(frame);
  left_ -= std::min(left_, bytes_of(made));
  rows_.emplace(frame, std::move(made));
}

nanoseconds timeline_frames::index_of(std::map<key, std::size_t>& table, key what) {
  const auto at = table.try_emplace(std::move(what), table.size()).first;
  return static_cast<nanoseconds>(at->second);
}

timeline_frames::row timeline_frames::row_of(std::size_t frame) {
  const auto& at = record_.frames[frame];
  const auto spans = timeline_.spans_of(frame);
  const auto attribution = attributor_.of(frame);
  row result = {static_cast<nanoseconds>(frame),
                at.due,
                at.begin - at.due,
                at.end - at.due,
                attribution.residual,
                static_cast<nanoseconds>(spans.size())};
  nanoseconds last = at.due;
  for (const auto& span : spans) {
    const bool part = span.what == timeline_span::kind::part;
    result.push_back(index_of(
        spans_, {static_cast<std::int64_t>(span.what), static_cast<std::int64_t>(span.lane),
                 or_none(span.stage), part ? static_cast<std::int64_t>(span.part) : none}));
    result.push_back(span.begin - last);
    result.push_back(span.end - span.begin);
    last = span.begin;
  }
  last = at.due;
  for (const auto& piece : attribution.pieces) {
    result.push_back(
        index_of(pieces_, {static_cast<std::int64_t>(piece.what), or_none(piece.stage)}));
    result.push_back(piece.begin - last);
    result.push_back(piece.length());
    last = piece.end;
  }
  return result;
}

json timeline_frames::in_order(const std::map<key, std::size_t>& table) {
  std::vector<const key*> keys(table.size());
  for (const auto& [what, index] : table) keys[index] = &what;
  json list = json::array();
  for (const auto* what : keys) {
    json entry = json::array();
    for (const auto value : *what) entry.push_back(value == none ? json(nullptr) : json(value));
    list.push_back(std::move(entry));
  }
  return list;
}

void timeline_frames::write(json& to) const {
  to["lanes"] = json::array();
  for (const auto& lane : timeline_.lanes()) {
    to["lanes"].push_back({{"kind", word_of(lane.what)}, {"name", lane.name}});
  }
  to["kinds"] = {"cpu", "enqueue", "synced", "device", "copy", "part"};
  to["spent"] = json::array();
  for (const auto& [word, what] : spent_words) to["spent"].push_back(word);
  to["spans"] = in_order(spans_);
  to["pieces"] = in_order(pieces_);
  to["frames"] = json::array();
  for (const auto& [frame, numbers] : rows_) to["frames"].push_back(numbers);
}

}  // namespace graphline
