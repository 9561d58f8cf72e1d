#include "framework/campaign/search/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

constexpr std::size_t most_combinations = 10'000;

/// A varied setting or parameter.
struct search_axis {
  std::string key;
  std::vector<std::string> values;
  place given = {};  ///< of the option --over; unset for default values
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Returns a setting's value as headings write it; the text itself for a parameter.
std::string written_value(const std::string& key, const std::string& text, diagnostics& out,
                          const place& where = {}) {
  if (!is_setting(key)) return text;
  settings run;
  read_setting(run, key, node::scalar(text, false, where), out);
  std::string result;
  each_setting([&](auto member, const setting_entry& of) {
    if (key == of.key) result = written(run.*member);
  });
  return result;
}

std::string value_in(const plan& p, const std::string& key) {
  for (const auto& [name, value] : p.parameters) {
    if (name == key) return value;
  }
  std::string result;
  each_setting([&](auto member, const setting_entry& of) {
    if (key == of.key) result = written(p.run.*member);
  });
  return result;
}

const searched_setting* find_default(std::string_view key) {
  const auto* const found = std::ranges::find(searched_settings, key, &searched_setting::key);
  return found == std::end(searched_settings) ? nullptr : found;
}

/// Returns true if the setting can have an effect on this pipeline.
bool varies_by_default(const searched_setting& of, const plan& p) {
  if (of.key != "batch_frames") return true;
  return p.run.arrival != arrival::closed &&
         std::ranges::any_of(p.stages, [](const auto& s) { return s.kind->name == "cpu.batch"; });
}

class axis_reader {
 public:
  axis_reader(const plan& file, diagnostics& out) : file_(file), out_(out) {}

  std::vector<search_axis> read(const std::vector<std::string>& over) {
    const bool limited =
        std::ranges::any_of(over, [](const auto& text) { return text.find('=') == text.npos; });
    for (const auto& of : searched_settings) {
      if (!limited && varies_by_default(of, file_)) add_default(of);
    }
    std::set<std::string> given;
    for (const auto& text : over) {
      const auto key = text.substr(0, text.find('='));
      if (!given.insert(key).second) fail(text, "this key is given twice");
      add(text, key);
    }
    return std::move(axes_);
  }

 private:
  [[noreturn]] static void fail(const std::string& text, const std::string& why) {
    throw input_error(fmt::format("--over {}: {}", quote(text, 200), why));
  }

  void add_default(const searched_setting& of) {
    search_axis made{std::string(of.key), split(of.values)};
    const auto own = value_in(file_, made.key);
    if (std::ranges::find(made.values, own) == made.values.end()) made.values.push_back(own);
    axes_.push_back(std::move(made));
  }

  void add(const std::string& text, const std::string& key) {
    std::vector<std::string> known = setting_keys();
    for (const auto& [name, value] : file_.parameters) known.push_back(name);
    if (std::ranges::find(known, key) == known.end()) {
      fail(text, fmt::format("{} is neither a setting nor a parameter of the pipeline{}",
                             quote(key), suggestion(key, known, known.size())));
    }
    if (key == "frames" || key == "warmup" || key == "timing" || key == "seed") {
      fail(text, "this setting changes how a trial is measured, so results would not compare");
    }
    const auto equals = text.find('=');
    if (equals == text.npos) {
      const auto* const of = find_default(key);
      if (of == nullptr) fail(text, fmt::format("expected values: --over {}=VALUE,VALUE", key));
      add_default(*of);
      return;
    }
    search_axis made{key,
                     split(std::string_view(text).substr(equals + 1)),
                     {std::make_shared<source_text>("--over " + text, "")}};
    std::set<std::string> distinct;
    for (auto& value : made.values) {
      if (value.empty()) fail(text, "a value is missing; expected KEY=VALUE,VALUE");
      value = written_value(key, value, out_, made.given);
      if (!distinct.insert(value).second)
        fail(text, fmt::format("{} is there twice", quote(value)));
    }
    const auto replaced = std::ranges::find(axes_, key, &search_axis::key);
    if (replaced == axes_.end()) {
      axes_.push_back(std::move(made));
    } else {
      *replaced = std::move(made);
    }
  }

  const plan& file_;
  diagnostics& out_;
  std::vector<search_axis> axes_;
};

using name_values = std::vector<std::pair<std::string, std::string>>;

/// Returns the assignments of all combinations that differ from the file's settings.
std::vector<name_values> combine(const std::vector<search_axis>& axes, const plan& file,
                                 std::size_t count) {
  std::vector<name_values> all;
  for (std::size_t number = 0; number < count; ++number) {
    name_values made;
    std::size_t rest = number;
    for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size()) {
      const auto& value = axes[a].values[rest % axes[a].values.size()];
      if (value != value_in(file, axes[a].key)) made.insert(made.begin(), {axes[a].key, value});
    }
    if (!made.empty()) all.push_back(std::move(made));
  }
  return all;
}

configuration_spec spelled_out(const name_values& values, const std::vector<search_axis>& axes) {
  configuration_spec made;
  for (const auto& [key, value] : values) {
    const auto of = std::ranges::find(axes, key, &search_axis::key);
    made.assignments.push_back({{key, of->given}, node::scalar(value, false, of->given)});
  }
  return made;
}

/// Removes assignments without effect in this configuration from its name and its assignments.
void simplify(planned_configuration& of) {
  const settings& run = of.members.front().run;
  auto& name = of.what.name;
  auto& values = of.what.assignments;
  each_setting([&](auto, const setting_entry& setting) {
    const bool idle = (setting.of_overlap && !has_workers(run)) ||
                      (setting.on_schedule && run.arrival == arrival::closed);
    if (idle) std::erase_if(values, [&](const auto& value) { return value.first == setting.key; });
  });
  if (name == file_settings) return;
  std::vector<std::string> parts;
  for (const auto& [key, value] : values) parts.push_back(key + '=' + value);
  name = fmt::format("{}", fmt::join(parts, " "));
}

/// Describes how a plan runs. Plans with the same text run alike.
std::string text_of(const plan& p) {
  const auto& properties = p.schedule.properties;
  const bool on_device =
      std::ranges::any_of(p.stages, [](const auto& s) { return s.on == side::device; });
  std::string text = fmt::format("{}{}{} ", properties.one_host_thread(), properties.one_launch,
                                 on_device && p.schedule.captures);
  for (const auto& [what, stage] : p.schedule.steps) {
    text += fmt::format("{}:{} ", static_cast<int>(what), stage);
  }
  for (const auto& stage : p.stages) {
    text += fmt::format("{}/{}/{} ", stage.stream, stage.signals, stage.host_waits);
  }
  for (const auto& stream : p.streams) {
    text += fmt::format("{}={} ", stream.name, static_cast<int>(stream.priority));
  }
  each_setting([&](auto member, const setting_entry& of) {
    const std::string_view key = of.key;
    if (key == "strategy" || key == "graphs" || key == "priorities") return;  // stated above
    if ((key == "wait" && !on_device) || !applies(member, of, p.run)) return;
    text += fmt::format("{}={} ", key, written(p.run.*member));
  });
  return text + fmt::format("{}", p.parameters);
}

/// Reports values of --over that occur in refused combinations only, each with a reason.
void report_refused(const std::vector<configuration_spec>& all,
                    const refused_configurations& refused, diagnostics& out) {
  std::set<std::pair<std::string, std::string>> accepted;
  const auto values_of = [&](std::size_t c, auto take) {
    for (const auto& [key, value] : all[c].assignments) take(std::pair(key.text, value.text()));
  };
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (!refused.contains(c)) values_of(c, [&](auto value) { accepted.insert(value); });
  }
  for (const auto& [c, found] : refused) {
    bool new_value = false;
    for (const auto& [key, value] : all[c].assignments) {
      if (key.place) new_value |= accepted.insert({key.text, value.text()}).second;
    }
    const auto first = std::ranges::find(found.all(), severity::error, &diagnostic::severity);
    if (new_value) out.add(*first);
  }
}

/// Returns a scalar in YAML.
std::string scalar_text(const std::string& value) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+/";
  if (!value.empty() && value.find_first_not_of(plain) == value.npos) return value;
  std::string quoted;
  for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
  return '\'' + quoted + '\'';
}

std::string mapping_text(const std::vector<assignment>& list) {
  name_values values;
  for (const assignment& a : list) {
    std::erase_if(values, [&](const auto& known) { return known.first == a.key.text; });
    values.emplace_back(a.key.text, a.value.in_one_line());
  }
  return '{' + assignments_text(values) + '}';
}

}  // namespace

std::string assignments_text(const name_values& assignments) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : assignments) {
    parts.push_back(fmt::format("{}: {}", key, scalar_text(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

search_space make_search_space(experiment_spec of, const std::vector<std::string>& over,
                               stage_registry& registry, const plan_target& target,
                               diagnostics& out) {
  search_space made;
  of.configurations = {{{file_settings}, {}, 0}};
  made.planned = plan_experiment(of, registry, target, out);
  if (out.has_errors() || made.planned.configurations.empty()) return made;
  const plan& file = made.planned.configurations.front().members.front();
  of.name.text = file.pipeline + "_search";
  const auto axes = axis_reader(file, out).read(over);
  if (out.has_errors()) return made;
  made.combinations = 1;
  for (const auto& axis : axes) {
    made.combinations *= axis.values.size();
    if (made.combinations <= most_combinations) continue;
    throw input_error(
        "the search has more than 10,000 combinations; name fewer values or keys with --over");
  }
  for (const auto& values : combine(axes, file, made.combinations)) {
    of.configurations.push_back(spelled_out(values, axes));
  }
  diagnostics known;  // the warnings of the file, which are in `out`
  refused_configurations refused;
  made.planned = plan_experiment(of, registry, target, known, &refused);
  report_refused(of.configurations, refused, out);
  made.refused = refused.size();

  std::set<std::string> texts;
  auto& list = made.planned.configurations;
  for (auto& configuration : list) simplify(configuration);
  std::ranges::stable_sort(list, {}, [](const planned_configuration& c) {
    return std::pair(c.what.assignments.size(), c.members.front().run.in_flight);
  });
  made.same = std::erase_if(list, [&](const planned_configuration& c) {
    return !texts.insert(text_of(c.members.front())).second;
  });
  made.planned.pairs.clear();
  for (std::size_t c = 1; c < list.size(); ++c) made.planned.pairs.push_back({{c, 0}, {0, 0}});
  return made;
}

std::string experiment_text(const experiment_spec& of, const std::string& pipeline,
                            const std::vector<experiment_configuration>& candidates,
                            const experiment_settings& how, std::int64_t frames) {
  std::string text = fmt::format(
      "experiment: {}\n"
      "description: Confirmation of a search for the best settings.\n"
      "pipeline: {}\nframes: {}\ntrials: {}\nseed: {}\ntail: {}\n",
      of.name.text, scalar_text(pipeline), frames, how.trials, how.seed, percentile_name(how.tail));
  if (!of.params.empty()) text += fmt::format("params: {}\n", mapping_text(of.params));
  if (!of.run.empty()) text += fmt::format("run: {}\n", mapping_text(of.run));
  text += "configurations:\n";
  for (const auto& candidate : candidates) {
    const auto values = assignments_text(candidate.assignments);
    text +=
        fmt::format("  - {{name: '{}'{}{}}}\n", candidate.name, values.empty() ? "" : ", ", values);
  }
  return text;
}

}  // namespace graphline
