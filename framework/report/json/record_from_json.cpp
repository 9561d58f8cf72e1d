#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/report/json/record_fields.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

/// No run takes so long, and reports may add up times without leaving 64 bits.
constexpr nanoseconds longest = nanoseconds{1} << 53;  // 104 days

nanoseconds time_from(const json_part& from) {
  const auto time = from.whole<nanoseconds>();
  if (time < -longest || time > longest) from.fail("nanoseconds of 104 days at most");
  return time;
}

std::vector<nanoseconds> times_from(const json_part& from) {
  auto times = from.wholes<nanoseconds>();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < -longest || times[i] > longest) time_from(from.items()[i]);
  }
  return times;
}

/// The columns of a table, named `names`, all of one length, in each row of which no time lies
/// before that of the column before.
template <std::size_t N>
std::array<std::vector<nanoseconds>, N> columns_from(const json_part& from,
                                                     const std::array<const char*, N>& names) {
  std::array<std::vector<nanoseconds>, N> result;
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = times_from(from.at(names[i]));
    if (result[i].size() != result[0].size()) {
      throw input_error(fmt::format("{0}.{1} has {2} entries, where {0}.{3} has {4}", from.where(),
                                    names[i], result[i].size(), names[0], result[0].size()));
    }
    if (i == 0) continue;
    const auto wrong = std::mismatch(result[i].begin(), result[i].end(), result[i - 1].begin(),
                                     [](auto later, auto earlier) { return later >= earlier; });
    if (wrong.first == result[i].end()) continue;
    throw input_error(fmt::format("{0}.{1}[{2}] is {3}, which is before {0}.{4}[{2}], {5}",
                                  from.where(), names[i], wrong.first - result[i].begin(),
                                  *wrong.first, names[i - 1], *wrong.second));
  }
  return result;
}

/// Reports look up what an index names.
std::size_t index_below(const json_part& from, std::size_t end) {
  const auto index = from.whole<std::size_t>();
  if (index >= end) from.fail(fmt::format("an index below {}", end));
  return index;
}

void expect_entries(const json_part& column, std::size_t entries, std::size_t frames) {
  if (entries == frames) return;
  throw input_error(fmt::format("{} has {} entries, where the run has {} frames", column.where(),
                                entries, frames));
}

/// Reads what `fields` names, and checks all that reports rely on.
class record_reader {
 public:
  explicit record_reader(const json_part& from) : from_(from) {}
  record_reader(const json_part& from, const record_reader& above)
      : stages(above.stages),
        threads(above.threads),
        nodes(above.nodes),
        from_(from),
        frames_(above.frames_) {}

  std::size_t stages = 0;   ///< those before it, of a stage
  std::size_t threads = 0;  ///< of the run
  std::size_t nodes = 0;    ///< those before it, of a node

  template <class T>
  void value(const char* key, T& item) {
    read(from_.at(key), item);
  }
  /// Keeps what is there where the key is missing.
  template <class T>
  void newer(const char* key, T& item) {
    if (const auto part = from_.find(key)) read(*part, item);
    if constexpr (std::same_as<T, std::vector<std::string>>) threads = item.size();
  }
  template <class T>
  void optional(const char* key, std::optional<T>& item) {
    if (const auto part = from_.find(key)) read(*part, item.emplace());
  }
  void time(const char* key, nanoseconds& item) { item = time_from(from_.at(key)); }
  void times(const char* key, std::vector<nanoseconds>& list) { list = times_from(from_.at(key)); }
  void optional_time(const char* key, std::optional<nanoseconds>& item) {
    if (const auto part = from_.find(key)) item = time_from(*part);
  }
  void rate(const char* key, std::optional<double>& item) {
    optional(key, item);
    if (item && !can_be_kept(*item)) {
      from_.at(key).fail("a rate from 0.000001 to 1,000,000 frames a second");
    }
  }
  void at_least(const char* key, std::int64_t& item, std::int64_t least) {
    value(key, item);
    if (item < least) from_.at(key).fail(fmt::format("a number from {}", least));
  }
  void between(const char* key, double& item, double low, double high) {
    value(key, item);
    if (!(item > low && item < high)) {
      from_.at(key).fail(fmt::format("a number between {} and {}", low, high));
    }
  }
  void index(const char* key, std::size_t& item, std::size_t end) {
    item = index_below(from_.at(key), end);
  }
  void optional_index(const char* key, std::optional<std::size_t>& item, std::size_t end) {
    if (const auto part = from_.find(key)) item = index_below(*part, end);
  }
  void indices(const char* key, std::vector<std::size_t>& list, std::size_t end) {
    for (const auto& part : from_.at(key).items()) list.push_back(index_below(part, end));
  }
  /// A column that is missing was not filled; one that is there has an entry for each frame.
  void indices_by_frame(const char* key, std::vector<std::uint32_t>& list, std::size_t end) {
    const auto column = from_.find(key);
    if (!column) return;
    list = column->wholes<std::uint32_t>();
    expect_entries(*column, list.size(), frames_);
    for (const auto item : list) {
      if (item >= end) column->fail("indices of threads that the run has");
    }
  }

  template <class T>
  void object(const char* key, T& of) {
    whole(from_.at(key), of);
  }
  template <class T>
  void optional_object(const char* key, std::optional<T>& of) {
    if (const auto part = from_.find(key)) whole(*part, of.emplace());
  }
  template <class T>
  void list(const char* key, std::vector<T>& items) {
    read_items(from_.at(key), items);
  }
  template <class T>
  void newer_list(const char* key, std::vector<T>& items) {
    if (const auto part = from_.find(key)) read_items(*part, items);
  }

  void columns(const char* key, std::vector<stamp_pair>& stamps) {
    const auto table = from_.find(key);
    if (!table) return;
    const auto [begin, end] = columns_from<2>(*table, {"begin", "end"});
    expect_entries(*table, begin.size(), frames_);
    stamps.resize(frames_);
    for (std::size_t i = 0; i < frames_; ++i) stamps[i] = {begin[i], end[i]};
  }
  void frame_columns(const char* key, std::vector<frame_record>& frames) {
    const auto [due, begin, end] = columns_from<3>(from_.at(key), {"due", "begin", "end"});
    frames.resize(due.size());
    for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = {due[i], begin[i], end[i]};
    frames_ = frames.size();
  }
  /// At work at most from one event to the other.
  void busy(const char* key, std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>& device) {
    const auto column = from_.find(key);
    if (!column) return;
    list = times_from(*column);
    expect_entries(*column, list.size(), device.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0 || list[i] > device[i].length()) {
        column->items()[i].fail("nanoseconds of the time between the stage's events");
      }
    }
  }
  /// Such that some hundred of them can be added up in 64 bits.
  void count(const char* key, std::optional<std::int64_t>& item) {
    constexpr std::int64_t most = std::int64_t{1} << 56;  // 72 PFLOP or PB
    optional(key, item);
    if (item && (*item < 0 || *item > most)) from_.at(key).fail("a number from 0 to 2^56");
  }
  void ceiling_value(const char* key, double& item) {
    value(key, item);
    if (!is_ceiling_value(item)) from_.at(key).fail("a number from 0.001 to 10^18");
  }
  template <class T>
  void where(bool, const char* key, T& item) {
    newer(key, item);
  }
  /// Results of earlier versions know it of nothing.
  template <class T>
  void known(const char* key, T& of) {
    if (const auto part = from_.find(key)) whole(*part, of);
  }
  void type(tensor_type& of) {
    const auto extents = from_.at("shape");
    of.shape = shape(extents.wholes<std::int64_t>());
    if (!of.shape.checked_elements()) extents.fail("the shape of a tensor that can be");
    const auto element = from_.at("dtype");
    const auto known = dtype_from(element.text());
    if (!known) element.fail("an element type that this program knows");
    of.element = *known;
  }

 private:
  template <class T>
  static void read(const json_part& from, T& item) {
    if constexpr (std::is_enum_v<T>) {
      item = from.word<T>();
    } else if constexpr (std::same_as<T, bool>) {
      item = from.boolean();
    } else if constexpr (std::integral<T>) {
      item = from.whole<T>();
    } else if constexpr (std::same_as<T, double>) {
      item = from.number();
    } else if constexpr (std::same_as<T, std::string>) {
      item = from.text();
    } else if constexpr (std::same_as<T, std::vector<std::pair<std::string, std::string>>>) {
      item = from.pairs();
    } else {
      item.clear();
      for (const auto& part : from.items()) read(part, item.emplace_back());
    }
  }

  template <class T>
  void whole(const json_part& from, T& of) {
    record_reader inner(from, *this);
    fields(inner, of);
  }

  template <class T>
  void read_items(const json_part& from, std::vector<T>& items) {
    for (const auto& part : from.items()) {
      whole(part, items.emplace_back());
      if constexpr (std::same_as<T, stage_record>) stages = items.size();
      if constexpr (std::same_as<T, graph_node>) nodes = items.size();
    }
  }

  const json_part& from_;
  std::size_t frames_ = 0;
};

template <class T>
T record_from(const json_part& from) {
  T record;
  record_reader reader(from);
  fields(reader, record);
  return record;
}

}  // namespace

bool is_ceiling_value(double value) noexcept {
  return value >= 1e-3 && value <= 1e18;
}

calibration calibration_from(const json_part& from) {
  return record_from<calibration>(from);
}

device_properties device_from(const json_part& from) {
  return record_from<device_properties>(from);
}

conditions_record conditions_from(const json_part& from) {
  return record_from<conditions_record>(from);
}

run_record run_from(const json_part& from) {
  return record_from<run_record>(from);
}

capacity_record capacity_from(const json_part& from) {
  return record_from<capacity_record>(from);
}

trial_record trial_from(const json_part& from) {
  return record_from<trial_record>(from);
}

void check_trial(const json_part& from, const trial_record& trial,
                 const std::vector<std::size_t>& members) {
  if (trial.configuration >= members.size()) {
    from.at("configuration").fail("one of the configurations");
  }
  const auto wanted = members[trial.configuration];
  if (trial.members.size() == wanted) return;
  throw input_error(fmt::format("{}.members has {} entries, where the configuration has {}",
                                from.where(), trial.members.size(), wanted));
}

experiment_record experiment_from(const json_part& from) {
  auto record = record_from<experiment_record>(from);
  std::vector<std::size_t> members;
  for (const auto& configuration : record.configurations) {
    members.push_back(configuration.members.size());
    if (members.back() > 0) continue;
    from.at("configurations")
        .items()[members.size() - 1]
        .at("members")
        .fail("a list of one pipeline at least");
  }
  for (const auto& [what, reference] : record.pairs) {
    for (const auto& which : {what, reference}) {
      if (which.configuration < members.size() && which.member < members[which.configuration]) {
        continue;
      }
      from.at("pairs").fail("pairs of pipelines that the experiment has");
    }
  }
  const auto trials = from.at("trials").items();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    check_trial(trials[i], record.trials[i], members);
  }
  return record;
}

}  // namespace graphline
