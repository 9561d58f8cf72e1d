#include "framework/campaign/search/search_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Settings that decide how a trial is measured.
constexpr std::string_view of_measuring[] = {"frames", "warmup", "max_time",
                                             "timing", "seed",   "guard"};

/// Settings that state the load, or what is required of the pipeline.
constexpr std::string_view of_load[] = {"arrival", "rate",  "arrival_file", "phase",
                                        "jitter",  "burst", "deadline"};

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

/// Returns true if the setting can have an effect on this pipeline, with some other settings.
bool varies_by_default(std::string_view key, const plan& p) {
  if (key == "batch_frames") {
    return p.run.arrival != arrival::closed &&
           std::ranges::any_of(p.stages, [](const auto& s) { return s.kind->name == "cpu.batch"; });
  }
  if (key != "streams" && key != "window") return true;
  for (std::size_t b = 0; b < p.stages.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const bool ordered = key == "streams" && p.reach[a][b];
      if (in_window(p.stages[a]) && in_window(p.stages[b]) && !ordered) return true;
    }
  }
  return false;
}

/// Returns the keys to vary with their values, like `vary:` of an experiment. Keys that `over` does
/// not name have no place.
std::vector<node::member> read_axes(const std::vector<std::string>& over, const plan& file,
                                    diagnostics& out) {
  std::vector<node::member> axes;
  const auto list_of = [&](std::string_view values, const place& given) {
    const auto name = given ? given.source->name() : "";
    const auto text = std::make_shared<source_text>(name, fmt::format("[{}]", values));
    auto items = read_yaml(text, out).items();
    for (node& item : items) {
      if (item.is_scalar()) item = node::scalar(item.text(), item.quoted(), given);
    }
    return items;
  };
  const auto add_default = [&](const searched_setting& of) {
    const std::string key(of.key);
    auto values = list_of(of.values, {});
    const auto own = value_in(file, key);
    if (std::ranges::find(values, own, &node::text) == values.end()) values.emplace_back(own);
    axes.push_back({{key}, node::sequence(std::move(values))});
  };
  const bool limited =
      std::ranges::any_of(over, [](const auto& text) { return text.find('=') == text.npos; });
  for (const auto& of : searched_settings) {
    if (!limited && varies_by_default(of.key, file)) add_default(of);
  }

  std::vector<std::string> known = setting_keys();
  for (const auto& [name, value] : file.parameters) known.push_back(name);
  for (const auto& text : over) {
    const auto fail = [&](const std::string& why) {
      throw input_error(fmt::format("--over {}: {}", quote(text, 200), why));
    };
    const auto equals = text.find('=');
    const auto key = text.substr(0, equals);
    if (std::ranges::find(known, key) == known.end()) {
      fail(fmt::format("{} is neither a setting nor a parameter of the pipeline{}", quote(key),
                       suggestion(key, known, known.size())));
    }
    if (std::ranges::find(of_measuring, key) != std::end(of_measuring)) {
      fail("this setting changes how a trial is measured, so results would not compare");
    }
    if (std::ranges::find(of_load, key) != std::end(of_load)) {
      fail(
          "this setting is part of the load, so results would not compare; set it for all "
          "candidates in the file or with an option");
    }
    const auto axis =
        std::ranges::find(axes, key, [](const node::member& m) { return m.key.text; });
    if (axis != axes.end() && (limited || axis->key.place)) fail("this key is given twice");
    if (equals == text.npos) {
      const auto* const of = std::ranges::find(searched_settings, key, &searched_setting::key);
      if (of == std::end(searched_settings)) {
        fail(fmt::format("expected values: --over {}=VALUE,VALUE", key));
      }
      add_default(*of);
      continue;
    }
    if (equals + 1 == text.size()) fail("a value is missing; expected KEY=VALUE,VALUE");
    const place given{std::make_shared<source_text>("--over " + text, "")};
    const auto values = node::sequence(list_of(text.substr(equals + 1), given), given);
    *(axis != axes.end() ? axis : axes.emplace(axis)) = {{key, given}, values};
  }
  return axes;
}

/// Removes assignments without effect, and names the configuration by the others.
void simplify(configuration_spec& of, const plan& file) {
  settings run = file.run;
  diagnostics known;
  for (const auto& [key, value] : of.assignments) {
    if (is_setting(key.text)) read_setting(run, key.text, value, known);
  }
  std::erase_if(of.assignments, [&](const assignment& a) {
    bool idle = a.value.in_one_line() == value_in(file, a.key.text);
    each_setting([&](auto member, const setting_entry& setting) {
      if (a.key.text != setting.key) return;
      idle = written(run.*member) == written(file.run.*member) ||
             (setting.of_overlap && !has_workers(run)) ||
             (setting.on_schedule && run.arrival == arrival::closed);
    });
    return idle;
  });
  std::vector<std::string> parts;
  for (const auto& [key, value] : of.assignments) {
    parts.push_back(key.text + '=' + value.in_one_line());
  }
  of.name.text = fmt::format("{}", fmt::join(parts, " "));
}

/// Draws combinations of a large grid. Each changes a random share of the file's values, where the
/// grid has these, so that simple combinations are drawn, too.
std::vector<configuration_spec> draw_combinations(const std::vector<node::member>& axes,
                                                  const plan& file, std::size_t count,
                                                  diagnostics& out) {
  std::vector<configuration_spec> drawn(count);
  std::mt19937_64 random(seed_from("combinations"));
  std::vector<double> changed;
  for (std::size_t i = 0; i < drawn.size(); ++i) changed.push_back(uniform_unit(random));
  for (const auto& axis : axes) {
    const auto values = read_grid(node::mapping({axis}), nullptr, nullptr, out);  // checks them
    if (out.has_errors()) continue;
    const bool has_own = std::ranges::any_of(
        values, [own = value_in(file, axis.key.text)](const configuration_spec& of) {
          return of.assignments.front().value.in_one_line() == own;
        });
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (has_own && uniform_unit(random) > changed[i]) continue;
      drawn[i].assignments.push_back(values[random() % values.size()].assignments.front());
    }
  }
  return drawn;
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
  if (!properties.waits_each) {  // else streams make no difference
    for (const auto& stage : p.stages) {
      text += fmt::format("{}/{}/{} ", stage.stream, stage.signals, stage.host_waits);
    }
    for (const auto& stream : p.streams) {
      text += fmt::format("{}={} ", stream.name, static_cast<int>(stream.priority));
    }
  }
  each_setting([&](auto member, const setting_entry& of) {
    const std::string_view key = of.key;
    if (key == "strategy" || key == "graphs" || key == "priorities" || key == "streams") return;
    if (key == "wait" && !on_device && p.run.arrival == arrival::closed) return;
    if (!applies(member, of, p.run)) return;
    text += fmt::format("{}={} ", key, written(p.run.*member));
  });
  return text + fmt::format("{}", p.parameters);
}

/// Reports values of --over that occur in refused combinations only, each with the reason why the
/// combination that is closest to the file's settings is refused.
void report_refused(const std::vector<configuration_spec>& all,
                    const refused_configurations& refused, diagnostics& out) {
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (refused.contains(c)) continue;
    for (const auto& [key, value] : all[c].assignments) known.emplace(key.text, value.text());
  }
  std::vector<std::size_t> closest;
  for (const auto& each : refused) closest.push_back(each.first);
  std::ranges::stable_sort(closest, {}, [&](std::size_t c) { return all[c].assignments.size(); });
  for (const std::size_t c : closest) {
    for (const auto& [key, value] : all[c].assignments) {
      if (!key.place || !known.emplace(key.text, value.text()).second) continue;
      out.add(*std::ranges::find(refused.at(c).all(), severity::error, &diagnostic::severity));
      break;
    }
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

using name_values = std::vector<std::pair<std::string, std::string>>;

std::string mapping_text(const name_values& assignments) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : assignments) {
    parts.push_back(fmt::format("{}: {}", key, scalar_text(value)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

name_values last_values(const std::vector<assignment>& list) {
  std::map<std::string, std::string> values;
  for (const assignment& a : list) values[a.key.text] = a.value.in_one_line();
  return {values.begin(), values.end()};
}

}  // namespace

experiment_plan make_search_space(experiment_spec of, const std::vector<std::string>& over,
                                  stage_registry& registry, const plan_target& target,
                                  std::size_t drawn, diagnostics& out) {
  experiment_plan made;
  of.configurations = {{{file_settings}, {}, 0}};
  made = plan_experiment(of, registry, target, out);
  if (out.has_errors() || made.configurations.empty()) return made;
  const plan& file = made.configurations.front().members.front();
  of.name.text = file.pipeline + "_search";
  const auto axes = read_axes(over, file, out);
  if (out.has_errors()) return made;
  double count = 1;
  for (const auto& [key, values] : axes) count *= static_cast<double>(values.items().size());
  const bool draws = count > static_cast<double>(5 * drawn);
  auto combinations = draws ? draw_combinations(axes, file, drawn, out)
                            : read_grid(node::mapping(axes), nullptr, nullptr, out);
  if (out.has_errors()) return made;
  std::set<std::string> texts = {""};
  for (auto& one : combinations) {
    one.reference = 0;
    simplify(one, file);
    if (texts.insert(one.name.text).second) of.configurations.push_back(std::move(one));
  }
  diagnostics known;  // the warnings of the file, which are in `out`
  refused_configurations refused;
  made = plan_experiment(of, registry, target, known, &refused);
  report_refused(of.configurations, refused, out);
  if (draws) {
    out.warning({}, fmt::format("the search draws {} of {:.0f} combinations at random; to try all, "
                                "name fewer values or keys with --over",
                                of.configurations.size() - 1, count));
  }

  auto& list = made.configurations;
  std::ranges::stable_sort(list, {}, [](const planned_configuration& c) {
    return std::pair(c.what.assignments.size(), c.members.front().run.in_flight);
  });
  std::erase_if(list, [&](const planned_configuration& c) {
    return !texts.insert(text_of(c.members.front())).second;
  });
  made.pairs.clear();
  for (std::size_t c = 1; c < list.size(); ++c) made.pairs.push_back({{c, 0}, {0, 0}});
  return made;
}

std::string experiment_text(const experiment_spec& of, const std::string& pipeline,
                            const std::vector<experiment_configuration>& candidates,
                            const experiment_settings& how, std::int64_t frames) {
  std::string text = fmt::format(
      "experiment: {}\n"
      "description: Confirmation of a search for the best settings.\n"
      "pipeline: {}\nframes: {}\ntrials: {}\nseed: {}\ntail: {}\nparams: {}\nrun: {}\n"
      "baseline: '{}'\nconfigurations:\n",
      of.name.text, scalar_text(pipeline), frames, how.trials, how.seed, percentile_name(how.tail),
      mapping_text(last_values(of.params)), mapping_text(last_values(of.run)), file_settings);
  for (auto [name, assignments, members] : candidates) {
    assignments.emplace(assignments.begin(), "name", name);
    text += fmt::format("  - {}\n", mapping_text(assignments));
  }
  return text;
}

}  // namespace graphline
