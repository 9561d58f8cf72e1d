#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace graphline {

/// Where a tensor is stored or a stage computes.
enum class side { device, cpu };

enum class priority { high, normal, low };

/// How the host waits for the device. `spin`: it polls. `yield`: it polls and yields the core.
/// `block`: it sleeps until signaled.
enum class wait_mode { spin, yield, block };

/// How frames are scheduled. `serial`: one host thread waits for each device stage. `async`: one
/// host thread waits only where a CPU stage reads a device result. `overlap`: a stage starts as
/// soon as its inputs are ready.
enum class strategy { serial, async, overlap };

/// How device work is launched: operation by operation, as one graph per stage, or as one graph per
/// frame in which CPU stages are host nodes.
enum class graph_mode { off, stage, frame };

/// How stages are measured; `traits_of` describes the times.
enum class timing_method { none, host, sync, callback, event, layers };

/// When frames are due: as soon as a slot is free, at a constant rate, as a Poisson process, or at
/// the times of a file.
enum class arrival { closed, constant, poisson, trace };

/// What happens to a frame that arrives at a full queue. `block`: it waits outside the queue.
/// `drop_oldest`: it replaces the oldest frame in the queue. `drop_newest`: it is dropped.
enum class queue_policy { block, drop_oldest, drop_newest };

/// What happens to a frame whose deadline has passed. `finish`: nothing. `drop`: it does not begin.
/// `skip_rest`: also, no further stage of it starts.
enum class late_rule { finish, skip_rest, drop };

/// Order that a policy keeps: no stage starts while a more urgent one is ready. `priority`: by
/// declared priority. `deadline`: the earlier absolute deadline is more urgent.
enum class urgency { none, priority, deadline };

/// What concurrent pipelines share under one policy: the workers of CPU stages, the window of
/// device stages.
enum class sharing { none, cpu, device, both };

/// How device stages share compute streams. `automatic`: each chain has a stream, and there are at
/// most eight. `one`: all share a stream. `per_stage`: none do. `per_branch`: as `automatic`,
/// without the limit.
enum class stream_rule { automatic, one, per_stage, per_branch };

/// How a dependency is satisfied. `graphs: frame` uses the first two values for all stages.
enum class satisfied_by {
  stream_order,  ///< device to device, by order in one stream
  event_wait,    ///< device to device across streams, by an event
  completion,    ///< device to CPU, when the host sees the device finish
  cpu_return,    ///< CPU to any stage, when the function returns
};

/// Initial contents of a pipeline input.
enum class fill { normal, uniform, zeros, ones };

/// A word of the YAML language and its value.
template <class T>
using word = std::pair<std::string_view, T>;

inline constexpr word<side> side_words[] = {{"device", side::device}, {"cpu", side::cpu}};
inline constexpr word<priority> priority_words[] = {
    {"high", priority::high}, {"normal", priority::normal}, {"low", priority::low}};
inline constexpr word<wait_mode> wait_mode_words[] = {
    {"spin", wait_mode::spin}, {"yield", wait_mode::yield}, {"block", wait_mode::block}};
inline constexpr word<strategy> strategy_words[] = {
    {"serial", strategy::serial}, {"async", strategy::async}, {"overlap", strategy::overlap}};
inline constexpr word<graph_mode> graph_mode_words[] = {
    {"off", graph_mode::off}, {"stage", graph_mode::stage}, {"frame", graph_mode::frame}};
inline constexpr word<timing_method> timing_method_words[] = {
    {"none", timing_method::none},   {"host", timing_method::host},
    {"sync", timing_method::sync},   {"callback", timing_method::callback},
    {"event", timing_method::event}, {"layers", timing_method::layers}};
inline constexpr word<arrival> arrival_words[] = {{"closed", arrival::closed},
                                                  {"constant", arrival::constant},
                                                  {"poisson", arrival::poisson},
                                                  {"trace", arrival::trace}};
inline constexpr word<queue_policy> queue_policy_words[] = {
    {"block", queue_policy::block},
    {"drop_oldest", queue_policy::drop_oldest},
    {"drop_newest", queue_policy::drop_newest}};
inline constexpr word<late_rule> late_rule_words[] = {
    {"finish", late_rule::finish}, {"skip_rest", late_rule::skip_rest}, {"drop", late_rule::drop}};
inline constexpr word<urgency> urgency_words[] = {
    {"none", urgency::none}, {"priority", urgency::priority}, {"deadline", urgency::deadline}};
inline constexpr word<sharing> sharing_words[] = {{"none", sharing::none},
                                                  {"cpu", sharing::cpu},
                                                  {"device", sharing::device},
                                                  {"both", sharing::both}};
inline constexpr word<stream_rule> stream_rule_words[] = {{"auto", stream_rule::automatic},
                                                          {"one", stream_rule::one},
                                                          {"per_stage", stream_rule::per_stage},
                                                          {"per_branch", stream_rule::per_branch}};
inline constexpr word<satisfied_by> satisfied_by_words[] = {
    {"stream order", satisfied_by::stream_order},
    {"event", satisfied_by::event_wait},
    {"completion", satisfied_by::completion},
    {"return", satisfied_by::cpu_return}};
inline constexpr word<fill> fill_words[] = {{"normal", fill::normal},
                                            {"uniform", fill::uniform},
                                            {"zeros", fill::zeros},
                                            {"ones", fill::ones}};

/// Percentiles in reports, ascending. Experiments, searches and gates accept only these.
inline constexpr word<double> shown_percentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};

template <class T>
struct words_of;
// clang-format off
template <> struct words_of<side>          { static constexpr const auto& table = side_words; };
template <> struct words_of<priority>      { static constexpr const auto& table = priority_words; };
template <> struct words_of<wait_mode>     { static constexpr const auto& table = wait_mode_words; };
template <> struct words_of<strategy>      { static constexpr const auto& table = strategy_words; };
template <> struct words_of<graph_mode>    { static constexpr const auto& table = graph_mode_words; };
template <> struct words_of<timing_method> { static constexpr const auto& table = timing_method_words; };
template <> struct words_of<arrival>       { static constexpr const auto& table = arrival_words; };
template <> struct words_of<queue_policy>  { static constexpr const auto& table = queue_policy_words; };
template <> struct words_of<late_rule>     { static constexpr const auto& table = late_rule_words; };
template <> struct words_of<urgency>       { static constexpr const auto& table = urgency_words; };
template <> struct words_of<sharing>       { static constexpr const auto& table = sharing_words; };
template <> struct words_of<stream_rule>   { static constexpr const auto& table = stream_rule_words; };
template <> struct words_of<satisfied_by>  { static constexpr const auto& table = satisfied_by_words; };
template <> struct words_of<fill>          { static constexpr const auto& table = fill_words; };
// clang-format on

/// Returns the word for a value: `to_word(strategy::async)` is "async".
template <class T>
constexpr std::string_view to_word(T value) noexcept {
  for (const auto& [text, v] : words_of<T>::table) {
    if (v == value) return text;
  }
  return "?";
}

/// Returns the value of a word; empty if there is no such word.
template <class T>
constexpr std::optional<T> from_word(std::string_view text) noexcept {
  for (const auto& [t, value] : words_of<T>::table) {
    if (t == text) return value;
  }
  return std::nullopt;
}

}  // namespace graphline
