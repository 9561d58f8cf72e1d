#include "tools/graphline/pipeline_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "framework/base/diagnostic.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/data_files.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "tools/graphline/machine.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct setting_option {
  const char* flag;
  const char* key;  ///< as in the file's `run:` section
  const char* values;
  const char* help;
  const char* letter = "";  ///< "-n,"
};

constexpr setting_option setting_options[] = {
    {"--strategy", "strategy", "serial|async|overlap", "How frames are scheduled"},
    {"--graphs", "graphs", "off|stage|frame",
     "Launch operation by operation, a graph per stage, or the frame as one"},
    {"--timing", "timing", "none|host|sync|event|layers",
     "How stages are measured; layers: device time per layer, perturbing"},
    {"--in-flight", "in_flight", "K", "Frames begun and not yet complete, at most"},
    {"--wait", "wait", "spin|yield|block", "How the host waits for the device"},
    {"--priorities", "priorities", "on|off", "Whether streams have priorities"},
    {"--frames", "frames", "N", "Measured frames", "-n,"},
    {"--warmup", "warmup", "N", "Frames before them that are not reported"},
    {"--seed", "seed", "N", "Seed of weights, inputs, random stages and random arrivals"},
    {"--threads", "threads", "N", "Compute threads of the host device (0: half the cores)"},
    {"--deadline", "deadline", "TIME", "A frame that takes longer has missed it: 20ms"},
    {"--arrival", "arrival", "closed|constant|poisson",
     "When frames are due: each when there is room for it, or on a schedule"},
    {"--rate", "rate", "R", "Frames due in a second, where they arrive on a schedule"},
    {"--queue", "queue", "N", "Frames on a schedule that are due and wait to begin, at most"},
    {"--when-full", "when_full", "block|drop_oldest|drop_newest",
     "What becomes of a frame that is due while the queue is full"}};

std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw input_error(fmt::format("--set {}: expected name=value, such as --set batch=8", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// What was given for a setting, with a place that messages call as it was given.
node option_value(const std::string& key, const std::string& text) {
  const auto* option = std::ranges::find(setting_options, key, &setting_option::key);
  const place given{std::make_shared<source_text>(fmt::format("{} {}", option->flag, text), "")};
  return node::scalar(text, false, given);
}

}  // namespace

void pipeline_options::add_to(CLI::App& command, const std::vector<std::string>& settings_options) {
  command.add_option("PIPELINE.yaml", path_, "The pipeline")->required();
  command.add_option("--device", device_, "auto, host, cuda or cuda:N")
      ->type_name("DEVICE")
      ->capture_default_str();
  command.add_option("--set", set_, "Set a parameter of the pipeline; may be given again")
      ->type_name("name=value")
      ->expected(1)
      ->take_all();
  for (const auto& option : setting_options) {
    const auto& wanted = settings_options;
    if (std::find(wanted.begin(), wanted.end(), option.key) == wanted.end()) continue;
    command
        .add_option(std::string(option.letter) + option.flag, overrides_[option.key], option.help)
        ->type_name(option.values);
  }
}

void pipeline_options::add_no_plugins_option(CLI::App& command) {
  command.add_flag("--no-plugins", no_plugins_,
                   "Refuse a pipeline that names plug-ins, which are code: run none of it");
}

std::vector<std::string> pipeline_options::files_of(const plan& p) const {
  const auto data = data_files(p);
  std::vector<std::string> files(data.begin(), data.end());
  files.push_back(path_);
  return files;
}

plan_target pipeline_options::target() const {
  return target_of(device_);
}

plan pipeline_options::make_plan(const std::function<void(settings&)>& adjust) {
  const plan_target machine = target();
  return make_plan(machine.backend, machine, adjust);
}

plan pipeline_options::make_plan_without_device() {
  return make_plan(backend_of(device_), {.backend = ""}, {});
}

plan pipeline_options::make_plan(const std::string& backend, const plan_target& machine,
                                 const std::function<void(settings&)>& adjust) {
  reading_options reading{backend, {}};
  for (const auto& text : set_) reading.set.push_back(split_assignment(text));

  diagnostics found;
  pipeline_spec spec = read_pipeline(read_source(path_), reading, found);
  for (const auto& [key, text] : overrides_) {
    if (text.empty()) continue;
    read_setting(spec.run, spec.run_places, key, option_value(key, text), found);
  }
  if (overrides_["arrival"] == to_word(arrival::closed)) drop_schedule(spec);
  if (adjust) adjust(spec.run);
  for (const auto& plugin : spec.plugins) {
    if (!no_plugins_) break;
    found.error(plugin.place,
                fmt::format("plug-in {} is code, which --no-plugins keeps from running; "
                            "leave the option out once you trust it",
                            quote(plugin.text, 200)));
  }
  if (no_plugins_ && !spec.plugins.empty()) found.throw_if_errors();
  // Without a plug-in its kinds are unknown, which is no mistake of the file's.
  if (!load_plugins(spec, stages_, found)) found.throw_if_errors();
  plan result = graphline::make_plan(spec, stages_, machine, found);
  found.throw_if_errors();
  if (!found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
  return result;
}

void pipeline_options::drop_schedule(pipeline_spec& spec) const {
  for (const std::string key : {"rate", "queue", "when_full"}) {
    const auto given = overrides_.find(key);
    if (given != overrides_.end() && !given->second.empty()) continue;
    spec.run_places.each.erase(key);
    if (key == "rate") spec.run.rate.reset();
  }
}

std::unique_ptr<device> pipeline_options::open_device(const plan& p) const {
  return graphline::open_device(device_, p);
}

}  // namespace graphline
