#pragma once

#include <concepts>
#include <optional>
#include <string>

#include "framework/device/device.hpp"
#include "framework/record/fields.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {

// Fields of structs that records contain but other libraries define.

template <class Archive>
void fields(Archive& a, part_of_record<settings> auto& of) {
  each_setting([&]<class Held>(Held settings::*member, const setting_entry& about) {
    if constexpr (std::same_as<Held, std::optional<nanoseconds>>) {
      a.value(about.key + std::string("_ns"), of.*member, any_time);
    } else if constexpr (std::same_as<Held, std::optional<double>>) {
      a.value(about.key, of.*member, any_rate);
    } else {
      a.value(about.key, of.*member);
    }
  });
}

template <class Archive>
void fields(Archive& a, part_of_record<experiment_settings> auto& of) {
  a.value("trials", of.trials);
  a.value("time_limit_ns", of.time_limit, any_time);
  a.value("narrow_to", of.narrow_to);
  a.value("margin", of.margin, part_of_one);
  a.value("tail", of.tail, part_of_one);
  a.value("seed", of.seed);
  a.value("repeat_affected", of.repeat_affected);
  a.value("share", of.share);
  a.value("horizon_ns", of.horizon, any_time);
}

template <class Archive>
void fields(Archive& a, part_of_record<device_properties> auto& of) {
  a.value("backend", of.backend);
  a.value("name", of.name);
  a.value("memory_bytes", of.memory_bytes);
  a.value("compute_threads", of.compute_threads);
  a.value("priority_levels", of.priority_levels);
  a.value("one_at_a_time", of.one_at_a_time);
  a.value("reports_busy_time", of.reports_busy_time);
  a.value("details", of.details);
}

template <class Archive>
void fields(Archive& a, part_of_record<device_state> auto& of) {
  a.value("clock_mhz", of.clock);
  a.value("memory_clock_mhz", of.memory_clock);
  a.value("slowed_by", of.slowed_by);
  a.value("other_processes", of.other_processes);
}

template <class Archive>
void fields(Archive& a, part_of_record<memory_usage> auto& of) {
  a.value("device_bytes", of.device_bytes);
  a.value("device_peak_bytes", of.device_peak_bytes);
  a.value("pinned_bytes", of.pinned_bytes);
  a.value("pinned_peak_bytes", of.pinned_peak_bytes);
  a.value("allocations", of.allocations);
}

template <class Archive>
void fields(Archive& a, part_of_record<graph_node> auto& of) {
  a.value("name", of.name);
  a.value("type", of.type);
  a.value("after", of.after, index_below(a.nodes));
  a.value("body", of.body, from_0);
}

}  // namespace graphline
