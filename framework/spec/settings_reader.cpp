#include "framework/spec/settings_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {
namespace {

parameter key(std::string name, std::string help) {
  return {.name = std::move(name), .help = std::move(help)};
}

parameter whole_number(std::string name, std::string help, double least,
                       std::optional<double> most) {
  return {.name = std::move(name), .help = std::move(help), .minimum = least, .maximum = most};
}

// The one list of what can be set.
const std::vector<setting<settings>>& all_settings() {
  static const std::vector<setting<settings>> table = {
      setting_of(&settings::strategy,
                 key("strategy",
                     "How frames are scheduled: one host thread that waits for each device stage, "
                     "one that waits only where a CPU stage reads a device result, or every stage "
                     "as soon as its inputs are ready.")),
      setting_of(&settings::graphs,
                 key("graphs",
                     "How device work is launched: operation by operation, one graph per device "
                     "stage, or the whole frame as one graph.")),
      setting_of(&settings::timing,
                 key("timing", "How stages are measured; 'layers' adds device time per layer.")),
      setting_of(&settings::wait,
                 key("wait",
                     "How the host waits for the device: polling, polling and yielding the core, "
                     "or asleep until woken.")),
      setting_of(&settings::priorities,
                 key("priorities", "Whether streams have the priorities of their stages.")),
      setting_of(
          &settings::in_flight,
          whole_number("in_flight",
                       "Maximum number of frames begun and not yet complete. Each stage still has "
                       "them in order, one at a time.",
                       1, 64)),
      setting_of(&settings::frames, whole_number("frames", "Measured frames.", 1, 100'000'000)),
      setting_of(&settings::warmup,
                 whole_number("warmup",
                              "Frames before the measured ones that are not reported. Unless it is "
                              "0, a GPU works for 300 ms before them.",
                              0, 1'000'000)),
      setting_of(&settings::seed,
                 whole_number("seed", "Seed of weights, inputs, random stages and random arrivals.",
                              0, {})),
      setting_of(
          &settings::threads,
          whole_number("threads", "Compute threads of the host device; 0 means half the cores.", 0,
                       1024)),
      setting_of(&settings::deadline,
                 {.name = "deadline",
                  .type = parameter_type::duration,
                  .help = "A frame that takes longer than this has missed its deadline.",
                  .minimum = 1}),
      setting_of(&settings::arrival,
                 key("arrival",
                     "When frames are due: each as soon as there is room for it, at a constant "
                     "rate, or at random moments of a Poisson process.")),
      setting_of(&settings::rate,
                 {.name = "rate",
                  .type = parameter_type::number,
                  .help = "Frames due in a second, on average; required unless 'arrival' is "
                          "closed, and not allowed then.",
                  .unit = "frames a second",
                  .minimum = lowest_rate,
                  .maximum = highest_rate}),
      setting_of(&settings::queue,
                 whole_number("queue",
                              "Maximum number of due frames that wait to begin; not with closed "
                              "arrival.",
                              1, 1'000'000)),
      setting_of(&settings::when_full,
                 key("when_full",
                     "What happens to a frame that is due while the queue is full: it waits, the "
                     "oldest frame in the queue is dropped, or the new one is.")),
  };
  return table;
}

}  // namespace

const std::vector<parameter>& run_keys() {
  static const std::vector<parameter> keys = keys_of(all_settings());
  return keys;
}

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys = names_of(run_keys());
  return keys;
}

void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out) {
  const auto found = std::ranges::find(
      all_settings(), key, [](const auto& s) -> const auto& { return s.key.name; });
  if (found == all_settings().end()) {
    out.error(value.where(), fmt::format("unknown setting {}{}", quote(key),
                                         suggestion(key, setting_keys(), setting_keys().size())));
  } else if (const auto read = read_value(found->key, value, "", out)) {
    found->store(run, *read);
  }
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
