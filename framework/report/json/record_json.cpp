#include "framework/report/json/record_json.hpp"

#include <cmath>

#include "framework/report/json/record_fields.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

template <class T>
json value_json(const T& item);

/// Writes NaN and infinity as texts, and -0 as 0.
json value_json(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number == 0 ? json(0) : json(number);
}

template <class T>
json value_json(const std::optional<T>& item) {
  return item ? value_json(*item) : json();
}

/// Returns [name, text], because the keys of an object cannot repeat.
json value_json(const std::pair<std::string, std::string>& text) {
  return json::array({text.first, text.second});
}

template <class Row>
json times_json(const std::vector<Row>& rows, nanoseconds Row::*time) {
  json list = json::array();
  for (const auto& row : rows) list.push_back(row.*time);
  return list;
}

json value_json(const std::vector<stamp_pair>& stamps) {
  return {{"begin", times_json(stamps, &stamp_pair::begin)},
          {"end", times_json(stamps, &stamp_pair::end)}};
}

json value_json(const std::vector<frame_record>& frames) {
  return {{"due", times_json(frames, &frame_record::due)},
          {"begin", times_json(frames, &frame_record::begin)},
          {"end", times_json(frames, &frame_record::end)}};
}

template <class T>
json value_json(const std::vector<T>& items) {
  json list = json::array();
  for (const auto& item : items) list.push_back(value_json(item));
  return list;
}

/// Writes the members that `fields` names.
class record_writer : public record_counts {
 public:
  template <class T>
  void value(std::string_view key, const T& item, const number_range& = {}) {
    made_[std::string(key)] = value_json(item);
  }
  template <part_of_a_record T>
  void value(std::string_view key, const std::optional<T>& item) {
    if (item) value(key, *item);
  }
  template <class T>
  void column(std::string_view key, const std::vector<T>& list, const number_range& = {}) {
    if (!list.empty()) value(key, list);
  }
  void busy(std::string_view key, const std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>&) {
    column(key, list);
  }
  void batches(std::string_view key, const std::vector<batch_record>& list, std::size_t) {
    if (list.empty()) return;
    json counts = json::array();
    for (const batch_record& each : list) counts.push_back(each.frames);
    made_[std::string(key)] = {{"frames", std::move(counts)},
                               {"ready", times_json(list, &batch_record::ready)}};
  }
  void type(const tensor_type& of) {
    made_["shape"] = of.shape.extents();
    made_["dtype"] = to_string(of.element);
  }

  json take() { return std::move(made_); }

 private:
  json made_ = json::object();
};

template <class T>
json value_json(const T& item) {
  if constexpr (part_of_a_record<T>) {
    record_writer writer;
    fields(writer, item);
    return writer.take();
  } else if constexpr (std::is_enum_v<T>) {
    return to_word(item);
  } else if constexpr (std::is_same_v<T, stream_choice>) {
    return written(item);
  } else {
    return item;
  }
}

}  // namespace

json record_json(const record_view& record) {
  return std::visit([](const auto* of) { return value_json(*of); }, record);
}

template <class Part>
json part_json(const Part& part) {
  return value_json(part);
}
template json part_json(const trial_record&);
template json part_json(const settings&);
template json part_json(const device_properties&);
template json part_json(const experiment_settings&);
template json part_json(const std::vector<compared_pair>&);

}  // namespace graphline
