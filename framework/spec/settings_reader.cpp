#include "framework/spec/settings_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {
namespace {

using read_function = void (*)(settings&, const node&, diagnostics&);

struct setting {
  const char* key;
  read_function read;
};

/// "100,000,000", whatever the locale.
std::string with_commas(std::int64_t value) {
  std::string digits = fmt::to_string(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

template <class T>
void read_in_range(T& to, const node& value, const char* key, std::int64_t least, std::int64_t most,
                   diagnostics& out) {
  const auto number = read_integer(value, key, out);
  if (!number) return;
  if (*number < least || *number > most) {
    out.error(value.where(), fmt::format("'{}' must be from {} to {}, found {}", key, least,
                                         with_commas(most), *number));
    return;
  }
  to = static_cast<T>(*number);
}

template <class T>
void read_into(T& to, const std::optional<T>& value) {
  if (value) to = *value;
}

void read_deadline(settings& run, const node& value, diagnostics& out) {
  const auto deadline = read_duration(value, "deadline", out);
  if (!deadline) return;
  if (*deadline <= 0) {
    out.error(value.where(), "'deadline' must be more than zero");
    return;
  }
  run.deadline = deadline;
}

void read_rate(settings& run, const node& value, diagnostics& out) {
  const auto rate = read_number(value, "rate", out);
  if (!rate) return;
  if (!can_be_kept(*rate)) {
    out.error(value.where(), fmt::format("'rate' must be from 0.000001 to 1,000,000 frames a "
                                         "second, found {}",
                                         value.text()));
    return;
  }
  run.rate = rate;
}

// The one list of what can be set.
constexpr setting all_settings[] = {
    {"strategy",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.strategy, read_word<strategy>(value, "strategy", out));
     }},
    {"graphs",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.graphs, read_word<graph_mode>(value, "graphs", out));
     }},
    {"timing",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.timing, read_word<timing_method>(value, "timing", out));
     }},
    {"wait",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.wait, read_word<wait_mode>(value, "wait", out));
     }},
    {"priorities",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.priorities, read_boolean(value, "priorities", out));
     }},
    {"in_flight",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.in_flight, value, "in_flight", 1, 64, out);
     }},
    {"frames",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.frames, value, "frames", 1, 100'000'000, out);
     }},
    {"warmup",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.warmup, value, "warmup", 0, 1'000'000, out);
     }},
    {"seed",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.seed, value, "seed", 0, std::numeric_limits<std::int64_t>::max(), out);
     }},
    {"threads",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.threads, value, "threads", 0, 1024, out);
     }},
    {"deadline", read_deadline},
    {"arrival",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.arrival, read_word<arrival>(value, "arrival", out));
     }},
    {"rate", read_rate},
    {"queue",
     [](settings& run, const node& value, diagnostics& out) {
       read_in_range(run.queue, value, "queue", 1, 1'000'000, out);
     }},
    {"when_full",
     [](settings& run, const node& value, diagnostics& out) {
       read_into(run.when_full, read_word<queue_policy>(value, "when_full", out));
     }},
};

}  // namespace

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> list;
    for (const setting& s : all_settings) list.emplace_back(s.key);
    return list;
  }();
  return keys;
}

void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out) {
  const auto* found = std::ranges::find(all_settings, key, &setting::key);
  if (found == std::end(all_settings)) {
    out.error(value.where(), fmt::format("unknown setting {}{}", quote(key),
                                         suggestion(key, setting_keys(), setting_keys().size())));
    return;
  }
  found->read(run, value, out);
}

void read_setting(settings& run, settings_places& places, const std::string& key, const node& value,
                  diagnostics& out) {
  const std::size_t before = out.all().size();
  read_setting(run, key, value, out);
  if (out.all().size() == before) {
    places.each[key] = value.where();
    places.unread.erase(key);
  } else {
    places.unread.insert(key);
  }
}

void read_settings(settings& run, settings_places& places, const node& section, diagnostics& out) {
  places.section = section.where();
  if (section.is_null()) return;
  if (!check_mapping(section, "run", out)) return;
  check_keys(section, "'run'", setting_keys(), out);
  for (const auto& [key, value] : section.members()) {
    if (std::ranges::find(setting_keys(), key.text) == setting_keys().end()) continue;
    read_setting(run, places, key.text, value, out);
  }
}

}  // namespace graphline
