#include "framework/report/trace/trace_slices.hpp"

#include <algorithm>

namespace graphline {

namespace {

bool is_part(const trace_slice& slice) {
  return slice.span.what == timeline_span::kind::part;
}

/// A stream does one thing at a time: what comes later ends what was before.
void follow_each_other(std::vector<trace_slice>& all, const std::vector<std::size_t>& lane) {
  for (std::size_t i = 1; i < lane.size(); ++i) {
    auto& before = all[lane[i - 1]].span;
    before.end = std::min(before.end, all[lane[i]].span.begin);
  }
}

/// A thread may take up something within something else, and ends it before it goes on.
void nest(std::vector<trace_slice>& all, const std::vector<std::size_t>& lane) {
  std::vector<std::size_t> open;
  for (const std::size_t at : lane) {
    const auto& span = all[at].span;
    while (!open.empty() && all[open.back()].span.end < span.end) {
      auto& around = all[open.back()].span;
      around.end = std::min(around.end, span.begin);
      open.pop_back();
    }
    open.push_back(at);
  }
}

/// Parts follow each other within their stage.
void fit_parts(std::vector<trace_slice>& all) {
  nanoseconds from = 0;
  nanoseconds to = 0;
  for (auto& slice : all) {
    auto& span = slice.span;
    if (is_part(slice)) {
      span.begin = std::clamp(span.begin, from, to);
      span.end = std::clamp(span.end, span.begin, to);
      from = span.end;
    } else {
      from = span.begin;
      to = span.end;
    }
  }
}

}  // namespace

trace_slices slices_of(const timeline& picture, std::size_t frames) {
  trace_slices result;
  result.lanes.resize(picture.lanes().size());
  for (std::size_t frame = 0; frame < frames; ++frame) {
    result.first.push_back(result.all.size());
    for (auto span : picture.spans_of(frame)) {
      span.end = std::max(span.begin, span.end);
      trace_slice slice{span, frame, span.end - span.begin};
      if (!is_part(slice)) result.lanes[span.lane].push_back(result.all.size());
      result.all.push_back(slice);
    }
  }
  result.first.push_back(result.all.size());
  for (std::size_t lane = 0; lane < result.lanes.size(); ++lane) {
    const bool thread = picture.lanes()[lane].what == timeline_lane::kind::thread;
    // Of two that begin at once the longer one holds the other on a thread and follows it on a
    // stream.
    std::stable_sort(result.lanes[lane].begin(), result.lanes[lane].end(),
                     [&](std::size_t a, std::size_t b) {
                       const auto& x = result.all[a].span;
                       const auto& y = result.all[b].span;
                       if (x.begin != y.begin) return x.begin < y.begin;
                       return thread ? x.end > y.end : x.end < y.end;
                     });
    (thread ? nest : follow_each_other)(result.all, result.lanes[lane]);
  }
  fit_parts(result.all);
  return result;
}

}  // namespace graphline
