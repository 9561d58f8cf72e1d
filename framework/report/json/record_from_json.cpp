#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "framework/base/error.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/json/roofline_inputs_json.hpp"

namespace graphline {

namespace {

/// No run takes so long, and reports may add up times without leaving 64 bits.
constexpr nanoseconds longest = nanoseconds{1} << 53;  // 104 days

nanoseconds time_from(const json_part& from) {
  const auto time = from.whole<nanoseconds>();
  if (time < -longest || time > longest) from.fail("nanoseconds of 104 days at most");
  return time;
}

std::vector<nanoseconds> times_from(const json_part& from) {
  auto times = from.wholes<nanoseconds>();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < -longest || times[i] > longest) time_from(from.items()[i]);
  }
  return times;
}

/// The columns of a table, named `names`, all of one length, in each row of which no time lies
/// before that of the column before.
template <std::size_t N>
std::array<std::vector<nanoseconds>, N> columns(const json_part& from,
                                                const std::array<const char*, N>& names) {
  std::array<std::vector<nanoseconds>, N> result;
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = times_from(from.at(names[i]));
    if (result[i].size() != result[0].size()) {
      throw input_error(fmt::format("{0}.{1} has {2} entries, where {0}.{3} has {4}", from.where(),
                                    names[i], result[i].size(), names[0], result[0].size()));
    }
    if (i == 0) continue;
    const auto wrong = std::mismatch(result[i].begin(), result[i].end(), result[i - 1].begin(),
                                     [](auto later, auto earlier) { return later >= earlier; });
    if (wrong.first == result[i].end()) continue;
    throw input_error(fmt::format("{0}.{1}[{2}] is {3}, which is before {0}.{4}[{2}], {5}",
                                  from.where(), names[i], wrong.first - result[i].begin(),
                                  *wrong.first, names[i - 1], *wrong.second));
  }
  return result;
}

std::vector<frame_record> frames_from(const json_part& from) {
  const auto [due, begin, end] = columns<3>(from, {"due", "begin", "end"});
  std::vector<frame_record> frames(due.size());
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = {due[i], begin[i], end[i]};
  return frames;
}

/// The items of a list that results of earlier versions do not have.
std::vector<json_part> items_of(const json_part& from, const char* name) {
  const auto list = from.find(name);
  return list ? list->items() : std::vector<json_part>();
}

/// Not known in results of earlier versions.
cost_record known_cost_of(const json_part& from) {
  const auto cost = from.find("cost");
  return cost ? cost_from(*cost) : cost_record();
}

/// Reports look up what an index names.
std::size_t index_below(const json_part& from, std::size_t end) {
  const auto index = from.whole<std::size_t>();
  if (index >= end) from.fail(fmt::format("an index below {}", end));
  return index;
}

void expect_entries(const json_part& column, std::size_t entries, std::size_t frames) {
  if (entries == frames) return;
  throw input_error(fmt::format("{} has {} entries, where the run has {} frames", column.where(),
                                entries, frames));
}

/// A column that is missing was not filled; one that is there has an entry for each frame.
std::vector<stamp_pair> stamps_from(const json_part& from, const char* name, std::size_t frames) {
  const auto table = from.find(name);
  if (!table) return {};
  const auto [begin, end] = columns<2>(*table, {"begin", "end"});
  expect_entries(*table, begin.size(), frames);
  std::vector<stamp_pair> stamps(frames);
  for (std::size_t i = 0; i < frames; ++i) stamps[i] = {begin[i], end[i]};
  return stamps;
}

/// At work at most from one event to the other.
std::vector<nanoseconds> busy_from(const json_part& from, const std::vector<stamp_pair>& device) {
  const auto column = from.find("busy");
  if (!column) return {};
  auto busy = times_from(*column);
  expect_entries(*column, busy.size(), device.size());
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (busy[i] < 0 || busy[i] > device[i].length()) {
      column->items()[i].fail("nanoseconds of the time between the stage's events");
    }
  }
  return busy;
}

stage_record stage_from(const json_part& from, std::size_t number, std::size_t frames,
                        std::size_t threads) {
  stage_record stage;
  stage.name = from.at("name").text();
  stage.kind = from.at("kind").text();
  stage.on = from.at("on").word<side>();
  stage.copy = from.at("copy").boolean();
  stage.stream = from.at("stream").text();
  if (const auto priority = from.find("priority")) {
    stage.priority = priority->word<graphline::priority>();
  }
  for (const auto& wait : items_of(from, "waits")) {
    stage.waits.push_back(
        {index_below(wait.at("stage"), number), wait.at("how").word<satisfied_by>()});
  }
  stage.cost = known_cost_of(from);
  stage.enqueued = stamps_from(from, "enqueued", frames);
  stage.device = stamps_from(from, "device", frames);
  stage.busy = busy_from(from, stage.device);
  stage.synced = stamps_from(from, "synced", frames);
  stage.cpu = stamps_from(from, "cpu", frames);
  if (const auto list = from.find("threads")) {
    stage.threads = list->wholes<std::uint32_t>();
    expect_entries(*list, stage.threads.size(), frames);
    for (const auto thread : stage.threads) {
      if (thread >= threads) list->fail("indices of threads that the run has");
    }
  }
  for (const auto& part : from.at("parts").items()) {
    stage.parts.push_back({part.at("name").text(), part.at("choice").text(),
                           stamps_from(part, "device", frames), known_cost_of(part)});
    stage.parts.back().busy = busy_from(part, stage.parts.back().device);
  }
  for (const auto& operation : from.at("operations").items()) {
    stage.operations.push_back({operation.at("name").text(), times_from(operation.at("calls")),
                                times_from(operation.at("together"))});
  }
  const auto traced = from.at("traced_runs");
  stage.traced_runs = traced.whole<std::int64_t>();
  if (stage.traced_runs < (stage.operations.empty() ? 0 : 1)) {
    traced.fail("how many runs were traced");
  }
  return stage;
}

constexpr std::size_t most_executables = 1 << 9;  // one for each frame in flight

graph_record graph_from(const json_part& from) {
  graph_record graph;
  graph.name = from.at("name").text();
  graph.operations = from.at("operations").whole<std::size_t>();
  graph.executables = index_below(from.at("executables"), most_executables);
  graph.capture = time_from(from.at("capture_ns"));
  graph.instantiate = time_from(from.at("instantiate_ns"));
  graph.first_launch = time_from(from.at("first_launch_ns"));
  graph.later_launch = times_from(from.at("later_launch_ns"));
  graph.launch = times_from(from.at("launch_ns"));
  graph.eager = times_from(from.at("eager_ns"));
  return graph;
}

memory_usage memory_from(const json_part& from) {
  memory_usage memory;
  memory.device_bytes = from.at("device_bytes").whole<std::size_t>();
  memory.device_peak_bytes = from.at("device_peak_bytes").whole<std::size_t>();
  memory.pinned_bytes = from.at("pinned_bytes").whole<std::size_t>();
  memory.pinned_peak_bytes = from.at("pinned_peak_bytes").whole<std::size_t>();
  memory.allocations = from.at("allocations").whole<std::uint64_t>();
  return memory;
}

std::optional<double> number_under(const json_part& from, const char* name) {
  const auto number = from.find(name);
  return number ? std::optional(number->number()) : std::nullopt;
}

std::optional<nanoseconds> time_under(const json_part& from, const char* name) {
  const auto time = from.find(name);
  return time ? std::optional(time_from(*time)) : std::nullopt;
}

std::optional<device_state> state_from(const json_part& from, const char* name) {
  const auto part = from.find(name);
  if (!part) return std::nullopt;
  device_state state;
  state.clock = number_under(*part, "clock_mhz");
  state.memory_clock = number_under(*part, "memory_clock_mhz");
  for (const auto& reason : part->at("slowed_by").items()) {
    state.slowed_by.push_back(reason.text());
  }
  if (const auto others = part->find("other_processes"))
    state.other_processes = others->whole<int>();
  return state;
}

}  // namespace

conditions_record conditions_from(const json_part& from) {
  conditions_record conditions;
  conditions.lasted = time_from(from.at("lasted_ns"));
  conditions.cores = from.at("cores").whole<int>();
  conditions.load_before = number_under(from, "load_before");
  conditions.load_after = number_under(from, "load_after");
  conditions.steal = time_under(from, "steal_ns");
  conditions.others = time_under(from, "others_ns");
  conditions.clock_before = number_under(from, "clock_mhz_before");
  conditions.clock_after = number_under(from, "clock_mhz_after");
  conditions.device_before = state_from(from, "device_before");
  conditions.device_after = state_from(from, "device_after");
  for (const auto& t : from.at("threads").items()) {
    conditions.threads.push_back(
        {t.at("thread").text(), time_from(t.at("on_cpu_ns")), time_from(t.at("waited_ns"))});
  }
  return conditions;
}

namespace {

tensor_type type_from(const json_part& from) {
  tensor_type type;
  const auto extents = from.at("shape");
  type.shape = shape(extents.wholes<std::int64_t>());
  if (!type.shape.checked_elements()) extents.fail("the shape of a tensor that can be");
  const auto element = from.at("dtype");
  const auto known = dtype_from(element.text());
  if (!known) element.fail("an element type that this program knows");
  type.element = *known;
  return type;
}

output_record output_from(const json_part& from) {
  output_record output;
  output.tensor = from.at("tensor").text();
  output.type = type_from(from);
  output.checksum = from.at("checksum").text();
  output.finite = from.at("finite").boolean();
  for (const auto& value : from.at("values").items()) output.values.push_back(value.number());
  return output;
}

tensor_record tensor_from(const json_part& from, std::size_t stages) {
  tensor_record tensor;
  tensor.name = from.at("name").text();
  tensor.type = type_from(from);
  tensor.on = from.at("on").word<side>();
  if (const auto writer = from.find("writer")) tensor.writer = index_below(*writer, stages);
  for (const auto& reader : from.at("readers").items()) {
    tensor.readers.push_back(index_below(reader, stages));
  }
  return tensor;
}

double rate_from(const json_part& from) {
  const double rate = from.number();
  if (!can_be_kept(rate)) from.fail("a rate from 0.000001 to 1,000,000 frames a second");
  return rate;
}

load_record load_from(const json_part& from) {
  load_record load;
  load.dropped = times_from(from.at("dropped"));
  load.found_full = from.at("found_full").whole<std::int64_t>();
  load.longest_queue = from.at("longest_queue").whole<std::int64_t>();
  return load;
}

}  // namespace

device_properties device_from(const json_part& from,
                              std::vector<std::pair<std::string, std::string>> details) {
  device_properties device;
  device.backend = from.at("backend").text();
  device.name = from.at("name").text();
  device.memory_bytes = from.at("memory_bytes").whole<std::uint64_t>();
  device.compute_threads = from.at("compute_threads").whole<int>();
  device.priority_levels = from.at("priority_levels").whole<int>();
  const auto flag = [&](const char* name) {
    const auto found = from.find(name);
    return found && found->boolean();
  };
  device.one_at_a_time = flag("one_at_a_time");
  device.tells_busy_time = flag("tells_busy_time");
  device.details = std::move(details);
  return device;
}

settings settings_from(const json_part& from) {
  settings run;
  run.strategy = from.at("strategy").word<strategy>();
  run.graphs = from.at("graphs").word<graph_mode>();
  run.timing = from.at("timing").word<timing_method>();
  run.wait = from.at("wait").word<wait_mode>();
  run.priorities = from.at("priorities").boolean();
  run.in_flight = from.at("in_flight").whole<std::int64_t>();
  run.frames = from.at("frames").whole<std::int64_t>();
  run.warmup = from.at("warmup").whole<std::int64_t>();
  run.seed = from.at("seed").whole<std::uint64_t>();
  run.threads = from.at("threads").whole<std::int64_t>();
  if (const auto deadline = from.find("deadline_ns")) run.deadline = time_from(*deadline);
  run.arrival = from.at("arrival").word<arrival>();
  if (const auto rate = from.find("rate")) run.rate = rate_from(*rate);
  run.queue = from.at("queue").whole<std::int64_t>();
  run.when_full = from.at("when_full").word<queue_policy>();
  return run;
}

run_record run_from(const json_part& from) {
  run_record record;
  record.pipeline = from.at("pipeline").text();
  record.description = from.at("description").text();
  if (const auto source = from.find("source")) {
    record.source = {source->at("file").text(), source->at("text").text()};
  }
  record.parameters = from.at("parameters").pairs();
  record.run = settings_from(from.at("settings"));
  const auto device = from.at("device");
  record.device = device_from(device, device.at("details").pairs());
  if (const auto cores = from.find("cpu_cores")) record.cpu_cores = cores->whole<int>();
  record.environment = from.at("environment").pairs();
  record.memory = memory_from(from.at("memory"));
  record.clock_error = time_from(from.at("clock_error_ns"));
  record.clock_drift = time_from(from.at("clock_drift_ns"));
  record.processor_time = time_from(from.at("processor_time_ns"));
  if (const auto c = from.find("conditions")) record.conditions = conditions_from(*c);
  record.frames = frames_from(from.at("frames"));
  record.launches = stamps_from(from, "launches", record.frames.size());
  for (const auto& name : items_of(from, "threads")) record.threads.push_back(name.text());
  record.load = load_from(from.at("load"));
  if (const auto kept = from.find("calibration")) record.calibration = calibration_from(*kept);
  for (const auto& stage : from.at("stages").items()) {
    record.stages.push_back(
        stage_from(stage, record.stages.size(), record.frames.size(), record.threads.size()));
  }
  for (const auto& tensor : items_of(from, "tensors")) {
    record.tensors.push_back(tensor_from(tensor, record.stages.size()));
  }
  for (const auto& graph : from.at("graphs").items()) record.graphs.push_back(graph_from(graph));
  for (const auto& output : from.at("outputs").items()) {
    record.outputs.push_back(output_from(output));
  }
  for (const auto& warning : from.at("warnings").items()) record.warnings.push_back(warning.text());
  record.interrupted = from.at("interrupted").boolean();
  if (const auto failure = from.find("failure")) record.failure = failure->text();
  return record;
}

trial_record trial_from(const json_part& from) {
  trial_record trial;
  trial.configuration = from.at("configuration").whole<std::size_t>();
  trial.block = from.at("block").whole<std::size_t>();
  trial.begun = time_from(from.at("begun_ns"));
  for (const auto& member : from.at("members").items()) trial.members.push_back(run_from(member));
  return trial;
}

}  // namespace graphline
