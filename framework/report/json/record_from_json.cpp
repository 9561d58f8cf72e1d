#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/report/json/record_fields.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {

namespace {

using range = std::optional<number_range>;

void expect_within(const range& allowed, double number, const json_part& from) {
  if (!allowed || allowed->holds(number)) return;
  from.fail(fmt::format(fmt::runtime(allowed->words), allowed->most + 1));
}

template <std::integral T>
std::vector<T> wholes_from(const json_part& from, const range& allowed) {
  auto list = from.wholes<T>();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto number = static_cast<double>(list[i]);
    // Columns are long, so the path of an item is built only for a message.
    if (allowed && !allowed->holds(number)) expect_within(allowed, number, from.items()[i]);
  }
  return list;
}

/// Reads the columns `names`. They must have equal length, and the times of a row must ascend.
template <std::size_t N>
std::array<std::vector<nanoseconds>, N> columns_from(const json_part& from,
                                                     const std::array<const char*, N>& names) {
  std::array<std::vector<nanoseconds>, N> result;
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = wholes_from<nanoseconds>(from.at(names[i]), any_time);
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

void expect_entries(const json_part& column, std::size_t entries, std::size_t frames) {
  if (entries == frames) return;
  throw input_error(fmt::format("{} has {} entries, where the run has {} frames", column.where(),
                                entries, frames));
}

/// Checks that the buckets ascend to the capacity.
void check_buckets(const json_part& from, const stage_record& stage) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < stage.buckets.size(); ++i) {
    const std::int64_t rows = stage.buckets[i].rows;
    if (rows <= before) {
      from.at("buckets").items()[i].at("rows").fail(fmt::format("a number above {}", before));
    }
    before = rows;
  }
  if (!stage.buckets.empty() && before != stage.capacity) {
    from.at("capacity").fail(fmt::format("{}, the rows of the last bucket,", before));
  }
}

/// Reads the members that `fields` names, and checks the values that reports rely on.
class record_reader : public record_counts {
 public:
  explicit record_reader(const json_part& from) : from_(from) {}
  record_reader(const json_part& from, const record_reader& above)
      : record_counts(above), from_(from) {}

  template <class T>
  void value(std::string_view key, T& item, const range& allowed = {}) {
    read(from_.at(key), item, allowed);
  }
  template <class T>
  void value(std::string_view key, std::optional<T>& item, const range& allowed = {}) {
    if constexpr (!part_of_a_record<T>) from_.at(key);  // an unknown value is null, not missing
    if (const auto part = from_.find(key)) read(*part, item.emplace(), allowed);
  }
  /// Reads a column. `list` stays empty if the column is missing.
  template <class T>
  void column(std::string_view key, std::vector<T>& list, const range& allowed = {}) {
    const auto part = from_.find(key);
    if (!part) return;
    read(*part, list, allowed);
    expect_entries(*part, list.size(), frames);
  }
  /// Reads busy times. Refuses times that exceed the time between the stage's events.
  void busy(std::string_view key, std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>& device) {
    const auto part = from_.find(key);
    if (!part) return;
    read(*part, list, any_time);
    expect_entries(*part, list.size(), device.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0 || list[i] > device[i].length()) {
        part->items()[i].fail("nanoseconds of the time between the stage's events");
      }
    }
  }
  /// Reads batches, which hold `all` frames. `list` stays empty if they are missing.
  void batches(std::string_view key, std::vector<batch_record>& list, std::size_t all) {
    const auto part = from_.find(key);
    if (!part) return;
    const auto counts = wholes_from<std::int32_t>(part->at("frames"), from_1);
    const auto ready = wholes_from<nanoseconds>(part->at("ready"), any_time);
    std::size_t held = 0;
    for (const std::int32_t count : counts) held += static_cast<std::size_t>(count);
    if (ready.size() != counts.size() || (!counts.empty() && held != all)) {
      part->fail(fmt::format("the {} frames of the run, and a time for each batch", all));
    }
    for (std::size_t i = 0; i < counts.size(); ++i) list.push_back({counts[i], ready[i]});
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

  template <class T>
  void read(const json_part& from, T& item, const range& allowed) {
    if constexpr (part_of_a_record<T>) {
      record_reader inner(from, *this);
      fields(inner, item);
      if constexpr (std::same_as<T, stage_record>) check_buckets(from, item);
    } else if constexpr (std::is_enum_v<T>) {
      item = from.word<T>();
    } else if constexpr (std::same_as<T, stream_choice>) {
      diagnostics found;
      settings run;
      read_setting(run, "streams", node(from.text()), found);
      if (found.has_errors()) from.fail("a word or number of the setting 'streams'");
      item = run.streams;
    } else if constexpr (std::same_as<T, bool>) {
      item = from.boolean();
    } else if constexpr (std::integral<T>) {
      item = from.whole<T>();
      expect_within(allowed, static_cast<double>(item), from);
    } else if constexpr (std::same_as<T, double>) {
      item = from.number();
      expect_within(allowed, item, from);
    } else if constexpr (std::same_as<T, std::string>) {
      item = from.text();
    } else {
      item = from.pairs();
    }
  }

 private:
  void read(const json_part& from, std::vector<stamp_pair>& stamps, const range&) {
    const auto [begin, end] = columns_from<2>(from, {"begin", "end"});
    for (std::size_t i = 0; i < begin.size(); ++i) stamps.push_back({begin[i], end[i]});
  }
  void read(const json_part& from, std::vector<frame_record>& list, const range&) {
    const auto [due, begin, end] = columns_from<3>(from, {"due", "begin", "end"});
    for (std::size_t i = 0; i < due.size(); ++i) list.push_back({due[i], begin[i], end[i]});
  }
  template <class T>
  requires(!std::same_as<T, std::pair<std::string, std::string>>) void read(const json_part& from,
                                                                            std::vector<T>& list,
                                                                            const range& allowed) {
    if constexpr (std::integral<T>) {
      list = wholes_from<T>(from, allowed);
      return;
    } else {
      list.clear();
      if constexpr (std::same_as<T, stage_record>) all_stages = from.items().size();
      for (const auto& part : from.items()) {
        read(part, list.emplace_back(), allowed);
        if constexpr (std::same_as<T, stage_record>) stages = list.size();
        if constexpr (std::same_as<T, graph_node>) nodes = list.size();
      }
    }
  }

  const json_part& from_;
};

/// Checks conditions across several fields of a record.
template <class Record>
void check_whole(const json_part&, const Record&) {}

void check_whole(const json_part& from, const calibration_record&) {
  from.at("environment").at("date");  // records that use a calibration contain its date
}

void check_whole(const json_part& from, const capacity_record& record) {
  const auto runs = from.at("runs").items();
  if (!record.closed_loop && runs.empty()) from.at("runs").fail("a list of one run at least");
  const std::size_t wanted = record.set ? record.set->members.size() : 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (wanted > 0 && record.runs[i].members.size() == wanted) continue;
    runs[i].at("members").fail("a run of each pipeline");
  }
}

void check_whole(const json_part& from, const ranks_record& record) {
  const auto ranks = from.at("ranks").items();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (record.ranks[r].rank != static_cast<std::int64_t>(r)) {
      ranks[r].at("rank").fail(fmt::format("{}, its place in the list,", r));
    }
  }
  if (std::ranges::any_of(record.ranks, [](const rank_record& r) { return r.run.has_value(); })) {
    return;
  }
  from.at("ranks").fail("a list with the run of one rank at least");
}

void check_whole(const json_part& from, const experiment_record& record) {
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
}

template <class Record>
Record whole_record_from(const json_part& from) {
  Record record;
  record_reader(from).read(from, record, {});
  check_whole(from, record);
  return record;
}

template <std::size_t... Kind>
any_record one_of(std::index_sequence<Kind...>, std::size_t kind, const json_part& from) {
  any_record (*const read[])(const json_part&) = {[](const json_part& of) -> any_record {
    return whole_record_from<std::variant_alternative_t<Kind, any_record>>(of);
  }...};
  return read[kind](from);
}

}  // namespace

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

any_record record_from(std::size_t kind, const json_part& from) {
  return one_of(std::make_index_sequence<std::size(result_kinds)>(), kind, from);
}

trial_record trial_from(const json_part& from) {
  return whole_record_from<trial_record>(from);
}

}  // namespace graphline
