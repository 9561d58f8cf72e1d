#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

bool on_host(const planned_device& device) {
  return device.backend == "host" || (device.backend.empty() && device.request.starts_with("host"));
}

/// Returns the canonical name: `cuda:0` for `cuda`. Each `host` without an index is a new device.
std::string index_of(const planned_device& device) {
  if (device.request == "auto" && !on_host(device)) return device.backend + ":0";
  return device.request == "cuda" ? "cuda:0" : device.request;
}

/// Reports a device that is there twice under different names.
void check_once(const draft& d, const place& where) {
  const planned_device& last = d.devices.back();
  if (on_host(last) && last.request.find(':') == std::string::npos) return;
  for (const planned_device& earlier : d.devices) {
    if (&earlier == &last || index_of(earlier) != index_of(last)) continue;
    d.out.error(where, fmt::format("devices '{}' and '{}' are both {}; declare it once",
                                   earlier.name, last.name, index_of(last)));
    return;
  }
}

/// Returns the message about a device that is not there, with the remedy of a pipeline that
/// declares it.
std::string missing_device(const device_spec& device, std::string why) {
  why.resize(std::min(why.size(), why.find("; --device host")));
  const place& at = device.name.place;
  const auto where = at.line > 0 ? fmt::format("{}:{}: ", at.source->name(), at.line) : "";
  return fmt::format("{}device '{}': {}; 'host' runs on the CPU", where, device.name.text, why);
}

/// Reports a name that results use for something else.
void check_name(const draft& d, const named& name) {
  for (const char* taken : {"cpu", "device", "host"}) {
    if (name.text != taken) continue;
    d.out.error(name.place, fmt::format("a device cannot have the name '{}', which results use for "
                                        "other things; choose another",
                                        taken));
  }
  if (name.text.starts_with("rank") && name.text.size() > 4 &&
      name.text.find_first_not_of("0123456789", 4) == name.text.npos) {
    d.out.error(name.place,
                fmt::format("a device cannot have the name '{}', which 'on' uses for ranks; choose "
                            "another",
                            name.text));
  }
}

/// Returns why two devices cannot copy from each other's memory and wait for each other's events;
/// empty if they can.
std::string why_apart(const draft& d, const planned_device& a, const planned_device& b) {
  if (&a == &b || (on_host(a) && on_host(b))) return "";
  if (a.backend != b.backend) return "they are of different kinds";
  if (!d.target.why_apart || !a.present || !b.present) {
    return "whether they have peer access is not known here";
  }
  return d.target.why_apart(index_of(a), index_of(b));
}

std::string_view ranks_hint(const std::string& on) {
  const bool named = on.size() > 4 && on.substr(1, 3) == "ank" && (on[0] == 'r' || on[0] == 'R');
  return named ? "; ranks are rank0, rank1, ..." : "";
}

}  // namespace

void resolve_devices(draft& d) {
  if (d.spec.devices.empty()) {
    d.devices = {{.backend = d.target.backend}};
    d.machines = {d.target};
    return;
  }
  if (d.spec.devices.size() > most_devices) {
    d.out.error(d.spec.devices.front().name.place,
                fmt::format("a pipeline has {} devices at most", most_devices));
  }
  if (d.target.chosen) {
    d.out.error(d.spec.devices.front().name.place,
                "--device does not apply to a pipeline that declares its devices; change "
                "'devices', or make a device a parameter for --set");
  }
  for (const device_spec& device : d.spec.devices) {
    plan_target machine = d.target;
    bool kinds_known = true;  // which kinds run on it; not in a program that was built without it
    if (machine.with_device) {
      try {
        machine = machine.with_device(device.device.text);
      } catch (const input_error& e) {
        d.out.error(device.device.place, e.what());
      } catch (const no_device_error& e) {
        const auto& text = device.device.text;
        machine = {.backend = text.substr(0, text.find(':')), .present = false};
        kinds_known = false;
        if (d.missing.empty()) d.missing = missing_device(device, e.what());
      }
    }
    d.devices.push_back({.name = device.name.text,
                         .request = device.device.text,
                         .backend = kinds_known ? machine.backend : "",
                         .threads = device.threads,
                         .present = machine.present});
    check_name(d, device.name);
    check_once(d, device.device.place);
    if (device.threads > 0 && !on_host(d.devices.back())) {
      d.out.error(device.device.place,
                  fmt::format("device '{}': 'threads' has no effect on {}, only on host; remove it",
                              device.name.text, device.device.text));
    }
    d.machines.push_back(std::move(machine));
  }
  for (planned_device& a : d.devices) {
    a.apart.clear();
    for (const planned_device& b : d.devices) a.apart.push_back(why_apart(d, a, b));
  }
}

void choose_device(draft& d, draft_stage& stage) {
  const named& on = stage.spec->on;
  const std::string& name = stage.spec->name.text;
  const bool on_device = stage.kind->moves || stage.kind->on == side::device;
  if (!on.text.empty()) {
    const auto found = std::ranges::find(d.devices, on.text, &planned_device::name);
    if (!on_device) {
      d.error(
          stage, on.place,
          fmt::format("'on' names a device, which has no effect on stage '{}': it runs on the "
                      "CPU{}",
                      name,
                      stage.spec->rank > 0 ? fmt::format("; write 'on: rank{}'", stage.spec->rank)
                      : ranks_hint(on.text).empty() ? "; remove it"
                                                    : std::string(ranks_hint(on.text))));
    } else if (d.spec.devices.empty() && d.out.has_errors()) {
      stage.sound = false;  // perhaps because of the devices
    } else if (d.spec.devices.empty()) {
      d.error(stage, on.place,
              fmt::format("stage '{}' runs on '{}', but the pipeline declares no 'devices'{}", name,
                          on.text, ranks_hint(on.text)));
    } else if (found == d.devices.end()) {
      std::vector<std::string> known;
      for (const planned_device& device : d.devices) known.push_back(device.name);
      d.error(stage, on.place,
              fmt::format("stage '{}' runs on '{}', which is not among the 'devices'{}{}", name,
                          on.text, suggestion(on.text, known, known.size()), ranks_hint(on.text)));
    } else {
      stage.device = static_cast<std::size_t>(found - d.devices.begin());
    }
  }
  if (const auto missing = missing_factory(*stage.kind, d.devices[stage.device].backend)) {
    d.error(stage, stage.spec->kind.place, *missing);
  }
}

}  // namespace graphline::planning
