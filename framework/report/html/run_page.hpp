#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a page shows beside what every page does.
struct page_options {
  /// Frames whose timelines it has, beside those it chooses itself: indices into the record's.
  std::vector<std::size_t> frames;
};

/// The report of a run as one HTML file. Starts with `html_beginning`. `analysis`: that of the
/// record.
std::string run_html(const run_record& record, const run_analysis& analysis,
                     const page_options& options = {});

inline std::string run_html(const run_record& record, const page_options& options = {}) {
  return run_html(record, analyze(record), options);
}

}  // namespace graphline
