#include "framework/report/terminal/floor_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

bool has_ratio(const roofline_metrics& figures) {
  return figures.ratio.has_value();
}

}  // namespace

floors::floors(std::optional<roofline_summary> held) : held_(std::move(held)) {}

const roofline_stage* floors::find(std::size_t stage) const noexcept {
  if (!held_) return nullptr;
  const auto& list = held_->stages;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [stage](const auto& one) { return one.stage == stage; });
  return found == list.end() ? nullptr : &*found;
}

const roofline_metrics* floors::of_stage(std::size_t stage) const noexcept {
  const auto* found = find(stage);
  return found == nullptr ? nullptr : &found->figures;
}

const roofline_metrics* floors::of_part(std::size_t stage, std::size_t part) const noexcept {
  const auto* found = find(stage);
  return found == nullptr || part >= found->parts.size() ? nullptr : &found->parts[part];
}

bool floors::any_stage() const noexcept {
  return held_ && std::any_of(held_->stages.begin(), held_->stages.end(),
                              [](const auto& one) { return has_ratio(one.figures); });
}

bool floors::any_part(std::size_t stage) const noexcept {
  const auto* found = find(stage);
  return found != nullptr && std::any_of(found->parts.begin(), found->parts.end(), has_ratio);
}

std::string ratio_cell(const std::optional<double>& ratio) {
  return ratio ? three_digits(*ratio, 2) + 'x' : "-";
}

std::string ratio_cell(const roofline_metrics* figures) {
  return ratio_cell(figures == nullptr ? std::nullopt : figures->ratio);
}

std::string floor_note(const run_record& record) {
  return fmt::format(
      "least: what the bytes and FLOPs of a device stage take at the ceilings that were "
      "calibrated on {}; ratio: its p50 over that",
      printable(record.calibration->date.substr(0, 10)));
}

}  // namespace graphline
