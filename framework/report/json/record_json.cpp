#include "framework/report/json/record_json.hpp"

#include "framework/report/json/record_fields.hpp"

namespace graphline {

namespace {

/// Writes what `fields` names.
class record_writer {
 public:
  explicit record_writer(compact_json& to) : to_(to) {}

  // Bounds matter to whoever reads.
  static constexpr std::size_t stages = 0;
  static constexpr std::size_t threads = 0;
  static constexpr std::size_t nodes = 0;

  template <class T>
  void value(const char* key, const T& item) {
    if constexpr (std::is_enum_v<T>) {
      to_.member(key, to_word(item));
    } else {
      to_.member(key, item);
    }
  }
  template <class T>
  void optional(const char* key, const std::optional<T>& item) {
    to_.member(key, item);
  }
  template <class T>
  void newer(const char* key, const T& item) {
    value(key, item);
  }
  void time(const char* key, nanoseconds item) { to_.member(key, item); }
  void times(const char* key, const std::vector<nanoseconds>& list) { to_.member(key, list); }
  void optional_time(const char* key, const std::optional<nanoseconds>& item) {
    to_.member(key, item);
  }
  void rate(const char* key, const std::optional<double>& item) { to_.member(key, item); }
  void at_least(const char* key, std::int64_t item, std::int64_t) { to_.member(key, item); }
  void between(const char* key, double item, double, double) { to_.member(key, item); }
  void index(const char* key, std::size_t item, std::size_t) { to_.member(key, item); }
  void optional_index(const char* key, const std::optional<std::size_t>& item, std::size_t) {
    to_.member(key, item);
  }
  void indices(const char* key, const std::vector<std::size_t>& list, std::size_t) {
    to_.member(key, list);
  }
  void indices_by_frame(const char* key, const std::vector<std::uint32_t>& list, std::size_t) {
    if (!list.empty()) to_.member(key, list);
  }

  template <class T>
  void object(const char* key, const T& of) {
    to_.key(key);
    whole(of);
  }
  template <class T>
  void optional_object(const char* key, const std::optional<T>& of) {
    if (of) object(key, *of);
  }
  template <class T>
  void list(const char* key, const std::vector<T>& items) {
    to_.key(key).open('[');
    for (const auto& item : items) whole(item);
    to_.close(']');
  }
  template <class T>
  void newer_list(const char* key, const std::vector<T>& items) {
    list(key, items);
  }

  void columns(const char* key, const std::vector<stamp_pair>& stamps) {
    if (stamps.empty()) return;
    to_.key(key).open('{');
    column("begin", stamps, [](const stamp_pair& s) { return s.begin; });
    column("end", stamps, [](const stamp_pair& s) { return s.end; });
    to_.close('}');
  }
  void frame_columns(const char* key, const std::vector<frame_record>& frames) {
    to_.key(key).open('{');
    column("due", frames, [](const frame_record& f) { return f.due; });
    column("begin", frames, [](const frame_record& f) { return f.begin; });
    column("end", frames, [](const frame_record& f) { return f.end; });
    to_.close('}');
  }
  void busy(const char* key, const std::vector<nanoseconds>& list, const std::vector<stamp_pair>&) {
    if (!list.empty()) to_.member(key, list);
  }
  void count(const char* key, const std::optional<std::int64_t>& item) { to_.member(key, item); }
  void ceiling_value(const char* key, double item) { to_.member(key, item); }
  template <class T>
  void where(bool holds, const char* key, const T& item) {
    if (holds) value(key, item);
  }
  template <class T>
  void known(const char* key, const T& of) {
    if (of != T()) object(key, of);
  }
  void type(const tensor_type& of) {
    to_.member("shape", of.shape.extents()).member("dtype", to_string(of.element));
  }

  template <class T>
  void whole(const T& of) {
    to_.open('{');
    fields(*this, of);
    to_.close('}');
  }

 private:
  /// A column of `rows`, by what `get` takes from each.
  template <class T, class Get>
  void column(const char* key, const std::vector<T>& rows, Get get) {
    to_.key(key).open('[');
    for (const auto& row : rows) to_.value(get(row));
    to_.close(']');
  }

  compact_json& to_;
};

}  // namespace

void write_settings(compact_json& to, const settings& run) {
  record_writer(to).whole(run);
}

void write_settings(compact_json& to, const experiment_settings& how) {
  record_writer(to).whole(how);
}

void write_pairs(compact_json& to, const std::vector<compared_pair>& pairs) {
  to.open('[');
  for (const auto& pair : pairs) record_writer(to).whole(pair);
  to.close(']');
}

void write_record(compact_json& to, const experiment_record& record) {
  record_writer(to).whole(record);
}

void write_record(compact_json& to, const run_record& record) {
  record_writer(to).whole(record);
}

void write_record(compact_json& to, const trial_record& trial) {
  record_writer(to).whole(trial);
}

void write_calibration(compact_json& to, const calibration& kept) {
  record_writer(to).whole(kept);
}

void write_record(compact_json& to, const capacity_record& record) {
  record_writer(to).whole(record);
}

std::string record_text(const trial_record& trial) {
  compact_json text;
  write_record(text, trial);
  return text.take();
}

}  // namespace graphline
