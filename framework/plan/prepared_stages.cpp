#include "framework/plan/prepared_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/plan/draft.hpp"

namespace graphline {
namespace {

/// Returns what a prepared stage lacks to make the stage; empty if nothing.
std::string missing_part(const stage_kind& kind, const prepared_stage& stage) {
  if (kind.on == side::cpu && !kind.moves) return stage.make_cpu ? "" : "no 'make_cpu' factory";
  for (const std::string& backend : kind.backends) {
    const auto factory = stage.make_device.find(backend);
    if (factory != stage.make_device.end() && factory->second) continue;
    return fmt::format("no 'make_device' factory for '{}'", backend);
  }
  return "";
}

/// Calls a function of a kind. Any exception except std::bad_alloc becomes an error at the stage.
/// @return null after an error
template <class Result, class Call>
std::shared_ptr<const Result> call_kind(const stage_kind& kind, const std::string& stage,
                                        const place& at, std::string_view function,
                                        diagnostics& found, const Call& call) {
  const auto* const label = stage_label_of(stage, kind.name, kind.origin);
  const stage_scope scope({label, stage_point::getting_ready});
  auto result = std::make_shared<Result>();
  try {
    *result = call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    found.error(at,
                fmt::format("{}: '{}' threw: {}", to_string(*label), function, reason_of_caught()));
  }
  if (found.has_errors()) return nullptr;
  return result;
}

}  // namespace

prepared_stages::entry& prepared_stages::entry_of(const stage_kind& kind, const arguments& given) {
  const auto known = std::ranges::find_if(
      entries_, [&](const entry& e) { return e.kind == &kind && e.given == given; });
  return known != entries_.end() ? *known : entries_.emplace_back(entry{&kind, given});
}

std::shared_ptr<const opened_stage> prepared_stages::open(const stage_kind& kind,
                                                          const std::string& stage,
                                                          const arguments& given,
                                                          diagnostics& out) {
  kept<opened_stage>& opened = entry_of(kind, given).opened;
  diagnostics found = opened.warnings;
  if (opened.result == nullptr) {
    opened.result = call_kind<opened_stage>(kind, stage, given.where(), "open", found,
                                            [&] { return kind.open(given, found); });
    if (opened.result != nullptr) opened.warnings = found;
  }
  planning::forward(found, out);
  return opened.result;
}

std::shared_ptr<const prepared_stage> prepared_stages::prepare(const stage_kind& kind,
                                                               const std::string& stage,
                                                               const arguments& given,
                                                               std::span<const tensor_type> inputs,
                                                               diagnostics& out) {
  entry& of = entry_of(kind, given);
  const auto known = std::ranges::find_if(
      of.prepared, [&](const preparation& p) { return std::ranges::equal(p.inputs, inputs); });
  if (known != of.prepared.end()) {
    planning::forward(known->stage.warnings, out);
    return known->stage.result;
  }
  if (kind.open && !of.opened.result && !open(kind, stage, given, out)) return nullptr;
  const prepare_function& prepare = kind.open ? of.opened.result->prepare : kind.prepare;
  diagnostics found;
  const auto result = call_kind<prepared_stage>(kind, stage, given.where(), "prepare", found, [&] {
    prepared_stage made = prepare(given, inputs, found);
    const std::string missing = missing_part(kind, made);
    if (!missing.empty() && !found.has_errors()) {
      found.error(given.where(), fmt::format("kind '{}' prepared {}, which is a fault of the kind",
                                             kind.name, missing));
    }
    return made;
  });
  planning::forward(found, out);
  if (result != nullptr) of.prepared.push_back({{inputs.begin(), inputs.end()}, {result, found}});
  return result;
}

}  // namespace graphline
