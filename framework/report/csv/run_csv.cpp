#include "framework/report/csv/run_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

/// The stamps of one stage under one measure, with the middle of its rows made once.
struct column {
  std::string fields;
  const std::vector<stamp_pair>* stamps;
  const std::vector<nanoseconds>* busy = nullptr;  ///< where the device tells, its time between
};

std::vector<column> columns_of(const run_record& record) {
  std::vector<column> result;
  for (const auto& stage : record.stages) {
    for (const auto what : measures_of(stage.on, record.run)) {
      result.push_back(
          {fmt::format("{},{},{}", csv_field(stage.name), to_word(stage.on), key_of(what)),
           &stamps_of(stage, what), what == measure::device_time ? &stage.busy : nullptr});
    }
    for (const auto& part : stage.parts) {
      result.push_back({fmt::format("{},{},part_time", csv_field(stage.name + "/" + part.name),
                                    to_word(stage.on)),
                        &part.device, &part.busy});
    }
  }
  return result;
}

}  // namespace

std::string csv_field(std::string_view name) {
  auto text = as_utf8(name);
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_csv_rows(text_sink& to, const run_record& record, std::string_view before) {
  const auto columns = columns_of(record);
  fmt::memory_buffer text;
  const auto row = [&](std::size_t frame, std::string_view fields, stamp_pair stamps,
                       std::optional<nanoseconds> busy = {}) {
    text.clear();
    fmt::format_to(std::back_inserter(text), "{}{},{},{},{},{}\n", before, frame, fields,
                   stamps.begin, stamps.end, busy.value_or(stamps.length()));
    to.append({text.data(), text.size()});
  };
  const bool scheduled = record.run.arrival != arrival::closed;
  for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
    const frame_record& at = record.frames[frame];
    row(frame, ",,end_to_end", {at.due, at.end});
    if (scheduled) row(frame, ",,queue_wait", {at.due, at.begin});
    for (const auto& c : columns) {
      if (frame >= c.stamps->size()) continue;
      const bool told = c.busy != nullptr && frame < c.busy->size();
      row(frame, c.fields, (*c.stamps)[frame],
          told ? std::optional((*c.busy)[frame]) : std::nullopt);
    }
  }
}

void write_run_csv(text_sink& to, const run_record& record) {
  to.append(csv_header);
  write_csv_rows(to, record);
}

}  // namespace graphline
