#include "tools/graphline/common_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include "framework/base/diagnostic.hpp"
#include "framework/base/utf8.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "stages/onnx_pipeline.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

/// Returns the option of a setting: "--in-flight" for in_flight.
std::string flag_of(std::string key) {
  std::ranges::replace(key, '_', '-');
  return "--" + key;
}

/// Returns the value of a setting's option. Diagnostics for the value point at the option.
node option_value(const std::string& key, const std::string& text) {
  const place given{std::make_shared<source_text>(flag_of(key) + " " + text, "")};
  return node::scalar(text, false, given);
}

}  // namespace

CLI::Validator in_range(std::int64_t least, std::int64_t most) {
  return CLI::Range(least, most).description("");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "auto, host, cuda or cuda:N")
      ->type_name("DEVICE")
      ->capture_default_str();
}

void add_quiet_option(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "Print only warnings and errors, no table or progress");
}

void add_no_plugins_option(CLI::App& command, plugin_use& use) {
  command.add_flag_callback(
      "--no-plugins", [&use] { use = plugin_use::refuse; },
      "Refuse a pipeline with plug-ins, whose code would run");
}

void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins,
                       const std::string& verb) {
  command
      .add_option("--plugin", plugins,
                  fmt::format("A plug-in whose kinds to {} too; repeatable", verb))
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all();
}

CLI::Option* add_sources_option(CLI::App& command, const std::string& option,
                                std::vector<std::string>& files, const std::string& use) {
  return command
      .add_option(option, files,
                  use +
                      " a result of 'run --timing event --json'; repeat it for several results "
                      "of the same settings")
      ->type_name("RESULT.json")
      ->allow_extra_args(false)
      ->take_all();
}

CLI::Option* add_predict_option(CLI::App& command, std::vector<std::string>& files) {
  return add_sources_option(command, "--predict", files,
                            "Instead of measuring, run in virtual time with the stage times of");
}

std::vector<prediction_source> read_sources(const std::vector<std::string>& files,
                                            std::string_view option) {
  std::vector<prediction_source> sources;
  for (const std::string& file : files) {
    auto read = read_record(file);
    if (std::holds_alternative<ranks_record>(read)) {
      throw input_error(
          fmt::format("{} {}: the result of several ranks; measure on one, without "
                      "mpirun",
                      option, quote(file, 200)));
    }
    auto* run = std::get_if<run_record>(&read);
    if (run == nullptr) {
      throw input_error(
          fmt::format("{} {}: not the result of one run; make one with 'graphline run --json FILE'",
                      option, quote(file, 200)));
    }
    sources.push_back({file, std::move(*run)});
  }
  return sources;
}

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     std::string_view option,
                                                     std::string_view expected) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw input_error(fmt::format("{} {}: expected {}", option, text, expected));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

stage_registry kinds_with(const std::vector<std::string>& plugins) {
  stage_registry kinds = builtin_stages();
  for (const std::string& path : plugins) load_plugin(path, kinds);
  return kinds;
}

std::string device_of_rank(std::string device, int rank, int local_rank) {
  for (const auto& [pattern, number] : {std::pair("{rank}", rank), {"{local}", local_rank}}) {
    if (const auto at = device.find(pattern); at != device.npos) {
      device.replace(at, std::string_view(pattern).size(), fmt::to_string(number));
    }
  }
  if (device != "auto" && device != "cuda") return device;
  for (const backend& known : builtin_devices().backends()) {
    std::string reason;
    const auto present = std::ssize(known.list(reason));
    if (known.name == "cuda" && present > 0) return fmt::format("cuda:{}", local_rank % present);
  }
  return device;
}

experiment_plan plan_experiment_file(const std::string& path, const std::string& device,
                                     plan_use use, stage_registry& stages, plugin_use plugins,
                                     bool warns) {
  plan_target machine = target_of(device, use);
  machine.plugins = plugins;
  diagnostics found;
  const auto spec = read_experiment(read_source(path, named_by::user), found);
  // Planning continues after errors, so that all errors are reported at once.
  experiment_plan planned = plan_experiment(spec, stages, machine, found);
  found.throw_if_errors();
  for (auto& data : checksums_of(data_files(planned))) planned.files.push_back(std::move(data));
  if (warns && !found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
  return planned;
}

std::vector<std::string> settings_except(const std::set<std::string>& excluded) {
  auto keys = setting_keys();
  std::erase_if(keys, [&](const std::string& key) { return excluded.contains(key); });
  return keys;
}

void add_checksums(plan& p, const result_outputs& results,
                   const std::vector<std::string>& sources) {
  if (results.empty()) return;
  auto files = data_files(p);
  files.insert(sources.begin(), sources.end());
  p.files = checksums_of(files);
}

void pipeline_options::add_to(CLI::App& command, const std::vector<std::string>& wanted) {
  command
      .add_option("PIPELINE.yaml", path_,
                  "The pipeline; its 'run:' section replaces the defaults below. Or an ONNX\n"
                  "model, NAME.onnx, whose open dimensions --set gives")
      ->required();
  add_device_option(command, device_);
  command.add_option("--set", set_, "Set a parameter of the pipeline; repeatable")
      ->type_name("name=value")
      ->allow_extra_args(false)
      ->take_all();
  each_setting([&]<class Held>(Held settings::*, const setting_entry& of) {
    if (std::ranges::find(wanted, of.key) == wanted.end()) return;
    std::string values = of.option_value;
    if constexpr (std::is_enum_v<Held>) {
      values = fmt::format("{}", fmt::join(word_list<Held>(), "|"));
    } else if constexpr (std::is_same_v<Held, bool>) {
      values = "on|off";
    }
    const auto* key = find_parameter(run_keys(), of.key);
    command.add_option(of.option_letter + flag_of(of.key), overrides_[of.key], of.option_help)
        ->type_name(values)
        ->default_str(key->default_value.value_or(""));
  });
}

bool pipeline_options::names_experiment() const {
  std::error_code ignored_error;
  if (!std::filesystem::is_regular_file(path_, ignored_error)) return false;  // a pipe is read once
  try {
    diagnostics ignored;
    const node root = read_yaml(read_source(path_, named_by::user), ignored);
    return root.is_mapping() && root.find("experiment") != nullptr;
  } catch (const input_error&) {
    return false;
  }
}

std::string pipeline_options::model_pipeline(const std::string& folder) const {
  namespace fs = std::filesystem;
  if (!names_model()) {
    throw input_error(fmt::format("{} is not an ONNX model (NAME.onnx)", quote(path_, 200)));
  }
  const auto written = fs::proximate(fs::absolute(path_), fs::absolute(folder));
  return pipeline_of_model(path_, written.string(), parameters());
}

std::string pipeline_options::override_given() const {
  if (!set_.empty()) return "--set " + set_.front();
  for (const auto& [key, text] : overrides_) {
    if (!text.empty()) return flag_of(key) + " " + text;
  }
  return "";
}

void pipeline_options::add_no_plugins_option(CLI::App& command) {
  graphline::add_no_plugins_option(command, plugins_);
}

std::vector<std::string> pipeline_options::files_of(const plan& p,
                                                    const std::vector<std::string>& sources) const {
  std::vector<std::string> files = sources;
  std::ranges::copy(data_files(p), std::back_inserter(files));
  files.push_back(path_);
  return files;
}

planned_pipeline pipeline_options::plan_to(
    plan_use use, const std::function<void(settings&)>& adjust, bool warns,
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::function<void(pipeline_spec&)>& change) {
  planning_options options{.device = device_,
                           .is_default = device_is_default_,
                           .set = parameters(),
                           .plugins = plugins_};
  options.set.insert(options.set.end(), set.begin(), set.end());
  options.adjust = [&](pipeline_spec& spec, diagnostics& found) {
    for (const auto& [key, text] : overrides_) {
      if (text.empty()) continue;
      read_setting(spec.run, spec.run_places, key, option_value(key, text), found);
    }
    if (overrides_["arrival"] == to_word(arrival::closed)) drop_schedule(spec);
    if (adjust) adjust(spec.run);
    if (change) change(spec);
  };
  const auto from = names_model()
                        ? pipeline_source(source_text(path_, model_pipeline(folder_of(path_))))
                        : pipeline_source(path_);
  auto result = plan_pipeline(from, stages_, options, use);
  if (warns && !result.warnings.all().empty()) {
    print(stderr, fmt::format("{}\n", result.warnings.render()));
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> pipeline_options::parameters() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& text : set_) {
    values.push_back(split_assignment(text, "--set", "name=value, such as --set batch=8"));
  }
  return values;
}

experiment_spec pipeline_options::as_experiment() const {
  if (names_model()) {
    throw input_error(fmt::format(
        "this command takes a pipeline; write one with 'graphline check {} --pipeline FILE.yaml'",
        path_));
  }
  experiment_spec made;
  made.pipeline = {path_, {std::make_shared<source_text>(path_, "")}};
  for (const auto& [key, text] : overrides_) {
    if (text.empty()) continue;
    const node value = option_value(key, text);
    made.run.push_back({{key, value.where()}, value});
  }
  for (const auto& [name, text] : parameters()) {
    const place given{std::make_shared<source_text>("--set " + name + '=' + text, "")};
    made.params.push_back({{name, given}, node::scalar(text, false, given)});
  }
  return made;
}

plan pipeline_options::make_plan(const std::function<void(settings&)>& adjust) {
  return plan_to(plan_use::run, adjust).planned;
}

void pipeline_options::drop_schedule(pipeline_spec& spec) {
  each_setting([&](auto member, const setting_entry& of) {
    if (!of.on_schedule || !overrides_[of.key].empty()) return;
    spec.run_places.each.erase(of.key);
    auto& value = spec.run.*member;
    if constexpr (requires { value.reset(); }) value.reset();
  });
}

open_devices pipeline_options::open_devices_of(const plan& p) const {
  return {p, device_};
}

}  // namespace graphline
