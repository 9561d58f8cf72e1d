#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Frames as rows of whole numbers, in the form that `timeline_data` describes. Keeps within a
/// budget.
class timeline_frames {
 public:
  /// `record` must outlive this. `budget` is in bytes of JSON.
  timeline_frames(const run_record& record, std::size_t budget);

  /// Keeps a frame if there is room or it is kept already; says whether it is kept.
  bool keep(std::size_t frame);

  /// Keeps a frame whether there is room or not.
  void keep_anyhow(std::size_t frame);

  /// Adds "lanes", "kinds", "spent", "spans", "pieces" and "frames".
  void write(nlohmann::ordered_json& to) const;

 private:
  using row = std::vector<nanoseconds>;
  using key = std::vector<std::int64_t>;  ///< what is the same for a span or piece in many frames

  row row_of(std::size_t frame);
  static nanoseconds index_of(std::map<key, std::size_t>& table, key what);
  static nlohmann::ordered_json in_order(const std::map<key, std::size_t>& table);

  const run_record& record_;
  timeline timeline_;
  attributor attributor_;
  std::size_t left_;  ///< of the budget
  std::map<std::size_t, row> rows_;
  std::map<key, std::size_t> spans_;
  std::map<key, std::size_t> pieces_;
};

}  // namespace graphline
