#include "framework/report/json/record_json.hpp"

#include "framework/report/json/record_fields.hpp"

namespace graphline {

namespace {

/// Writes what `fields` names.
class record_writer {
 public:
  explicit record_writer(compact_json& to) : to_(to) {}

  // How many there are matters to whoever reads.
  std::size_t frames = 0;
  std::size_t threads = 0;
  std::size_t stages = 0;
  std::size_t nodes = 0;

  template <class T>
  void value(std::string_view key, const T& item, const number_range& = {}) {
    to_.key(key);
    write(item);
  }
  template <part_of_a_record T>
  void value(std::string_view key, const std::optional<T>& item) {
    if (item) value(key, *item);
  }
  template <class T>
  void newer(std::string_view key, const T& item) {
    value(key, item);
  }
  template <class T>
  void where(bool holds, std::string_view key, const T& item) {
    if (holds) value(key, item);
  }
  template <class T>
  void column(std::string_view key, const std::vector<T>& list, const number_range& = {}) {
    if (!list.empty()) value(key, list);
  }
  void busy(std::string_view key, const std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>&) {
    column(key, list);
  }
  void type(const tensor_type& of) {
    to_.member("shape", of.shape.extents()).member("dtype", to_string(of.element));
  }

  void write(const std::vector<stamp_pair>& stamps) {
    to_.open('{');
    columns(stamps, {{"begin", &stamp_pair::begin}, {"end", &stamp_pair::end}});
    to_.close('}');
  }
  void write(const std::vector<frame_record>& frames_of_run) {
    to_.open('{');
    columns(frames_of_run, {{"due", &frame_record::due},
                            {"begin", &frame_record::begin},
                            {"end", &frame_record::end}});
    to_.close('}');
  }
  template <part_of_a_record T>
  void write(const std::vector<T>& items) {
    to_.open('[');
    for (const auto& item : items) write(item);
    to_.close(']');
  }
  template <class T>
  void write(const T& item) {
    if constexpr (part_of_a_record<T>) {
      to_.open('{');
      fields(*this, item);
      to_.close('}');
    } else if constexpr (std::is_enum_v<T>) {
      to_.value(to_word(item));
    } else {
      to_.value(item);
    }
  }

 private:
  template <class Row>
  void columns(const std::vector<Row>& rows,
               std::initializer_list<std::pair<const char*, nanoseconds Row::*>> all) {
    for (const auto& [key, of_row] : all) {
      to_.key(key).open('[');
      for (const auto& row : rows) to_.value(row.*of_row);
      to_.close(']');
    }
  }

  compact_json& to_;
};

}  // namespace

template <class Record>
void write_record(compact_json& to, const Record& record) {
  record_writer(to).write(record);
}
template void write_record(compact_json&, const run_record&);
template void write_record(compact_json&, const trial_record&);
template void write_record(compact_json&, const roofline_record&);
template void write_record(compact_json&, const capacity_record&);
template void write_record(compact_json&, const experiment_record&);
template void write_record(compact_json&, const settings&);
template void write_record(compact_json&, const experiment_settings&);
template void write_record(compact_json&, const std::vector<compared_pair>&);

}  // namespace graphline
