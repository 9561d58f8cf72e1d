#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "framework/base/units.hpp"
#include "framework/plan/placement.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

std::string where_it_runs(const plan& p, const planned_stage& stage) {
  if (p.ranks > 1 && !stage.inserted) {
    const std::string& device = p.devices[stage.device].name;
    return fmt::format("rank {}, {}", stage.rank,
                       stage.on == side::cpu ? "cpu"
                       : device.empty()      ? "device"
                                             : device);
  }
  const auto cores = stage.cores.empty() ? "" : ", cores " + in_ranges(stage.cores);
  if (stage.on == side::cpu && !p.schedule.properties.one_launch) return "cpu" + cores;
  const planned_stream& stream = p.streams[stage.stream];
  if (stream.calls) return fmt::format("{}, host node{}", stream.name, cores);
  return fmt::format("{}, {}", stream.name, to_word(stream.priority));
}

table stage_table(const plan& p) {
  using enum unit;
  using s = const planned_stage&;
  auto made =
      table_of<planned_stage>({"stages", "Stages, in order", "stage"},
                              {{{"name", "stage"}, [](s x) { return x.name; }},
                               {data_column("kind"), [](s x) { return x.kind->name; }},
                               {data_column("inserted"), [](s x) { return x.inserted; }},
                               {{"", "kind", {}, 0, "", shown},
                                [](s x) { return x.inserted ? "inserted copy" : x.kind->name; }},
                               {data_column("on"), [](s x) { return x.on; }},
                               {{.key = "device", .where = in_data, .optional = true},
                                [&](s x) {
                                  const auto& name = p.devices[x.device].name;
                                  return x.on == side::cpu ? cell() : unless_empty(name);
                                }},
                               {{"where", "runs on"}, [&](s x) { return where_it_runs(p, x); }},
                               {{"flops", "FLOPs", flops},
                                [](s x) {
                                  const auto amount = x.prepared->cost.flops;
                                  return amount == 0 ? cell() : cell(amount, flops);
                                }},
                               {{"bytes", "moved", bytes},
                                [](s x) {
                                  const auto& cost = x.prepared->cost;
                                  if (x.prepared->known == known_cost::none) return cell();
                                  return cell(static_cast<double>(cost.bytes_read) +
                                                  static_cast<double>(cost.bytes_written),
                                              bytes);
                                }}},
                              p.stages);
  made.titled = true;
  return made;
}

struct edge {
  const planned_stage& stage;
  const dependency& wait;
};

/// What ranks send to each other in a frame.
table transfer_table(const plan& p) {
  using t = const rank_transfer&;
  auto made = table_of<rank_transfer>(
      {"transfers", fmt::format("What ranks send, under mpirun -n {}", p.ranks), "tensor"},
      {{{"name", "tensor"}, [](t x) { return x.signal ? "end of " + x.name : x.name; }},
       {{"from", "from rank"}, [](t x) { return cell(x.from); }},
       {{"to", "to rank"}, [](t x) { return cell(x.to); }},
       {{"bytes", "size", unit::bytes},
        [](t x) { return x.signal ? cell() : cell(x.type.bytes(), unit::bytes); }}},
      p.transfers);
  made.titled = true;
  return made;
}

table edge_table(const plan& p) {
  std::vector<edge> edges;
  for (const auto& stage : p.stages) {
    for (const auto& wait : stage.waits) edges.push_back({stage, wait});
  }
  using e = const edge&;
  const auto names_of = [&](e x) {
    std::vector<std::string> names;
    for (const auto t : x.wait.tensors) names.push_back(p.tensors[t].name);
    return names;
  };
  auto made = table_of<edge>(
      {"waits", "What stages wait for", "stage"},
      {{{"stage", "stage"}, [](e x) { return x.stage.name; }},
       {{"for", "waits for"}, [&](e x) { return p.stages[x.wait.stage].name; }},
       {{"how", "by"}, [](e x) { return x.wait.how; }},
       {data_column("tensors"), names_of},
       {{"", "to read", {}, 0, "", shown},
        [&](e x) {
          const auto names = names_of(x);
          if (names.empty()) return std::string("(after)");
          return fmt::format("{}{}", fmt::join(names, ", "), x.wait.decides ? " (decides)" : "");
        }}},
      edges);
  made.titled = true;
  return made;
}

/// A stage that depends on the frame, or one of its buckets.
struct decided {
  const planned_stage& stage;
  const planned_bucket* bucket = nullptr;
};

/// Returns the number of executables with `graphs: stage`.
std::size_t graphs_of(const plan& p, const decided& x) {
  if (!p.schedule.captures || p.schedule.properties.one_launch || x.stage.on == side::cpu) return 0;
  if (copies_from_peer(p, x.stage)) return 0;
  const std::size_t buckets =
      x.bucket != nullptr ? 1 : std::max<std::size_t>(1, x.stage.buckets.size());
  const std::size_t inputs = x.stage.otherwise.empty() ? 1 : 2;
  return static_cast<std::size_t>(p.run.in_flight) * buckets * inputs;
}

bool has_buckets(const plan& p) {
  return std::ranges::any_of(p.stages,
                             [](const planned_stage& stage) { return !stage.buckets.empty(); });
}

table decision_table(const plan& p) {
  using enum unit;
  using d = const decided&;
  const auto name_of = [&](d x, const std::optional<std::size_t>& tensor) {
    return tensor && x.bucket == nullptr ? cell(p.tensors[*tensor].name) : cell();
  };
  const std::vector<column_of<decided>> columns = {
      {{"name", "stage"},
       [](d x) { return x.bucket == nullptr ? x.stage.name : counted(x.bucket->rows, "row"); }},
      {{"rows", "rows"}, [&](d x) { return name_of(x, x.stage.rows); }},
      {{"most", "most", count},
       [](d x) {
         if (x.bucket != nullptr) return cell(x.bucket->rows, count);
         return x.stage.capacity == 0 ? cell() : cell(x.stage.capacity, count);
       }},
      {{"when", "when"}, [&](d x) { return name_of(x, x.stage.when); }},
      {{"otherwise", "otherwise"},
       [&](d x) {
         // Omits the "@cpu" of a copy, so that both names fit.
         const auto short_of = [&](std::size_t tensor) {
           const std::string& name = p.tensors[tensor].name;
           return name.substr(0, name.find('@'));
         };
         std::vector<std::string> names;
         for (const alternative_read& other : x.stage.otherwise) {
           names.push_back(fmt::format("{} for {}", short_of(other.tensor),
                                       short_of(x.stage.reads[other.input])));
         }
         return names.empty() || x.bucket != nullptr
                    ? cell()
                    : cell(fmt::format("{}", fmt::join(names, ", ")));
       }},
      {{"can_be_skipped", "skippable"},
       [](d x) { return x.bucket == nullptr ? cell(x.stage.conditional ? "yes" : "no") : cell(); }},
      {{"graphs", "graphs", count},
       [&](d x) {
         const std::size_t graphs = graphs_of(p, x);
         return graphs == 0 ? cell() : cell(graphs, count);
       }},
      {{"flops", "FLOPs", flops, 10},
       [](d x) {
         if (x.bucket == nullptr || x.bucket->prepared->cost.flops == 0) return cell();
         return cell(x.bucket->prepared->cost.flops, flops);
       }},
      {{"bytes", "moved", bytes, 11}, [](d x) {
         if (x.bucket == nullptr || x.bucket->prepared->known == known_cost::none) return cell();
         const cost& of = x.bucket->prepared->cost;
         return cell(static_cast<double>(of.bytes_read) + static_cast<double>(of.bytes_written),
                     bytes);
       }}};
  table made{"decisions",
             has_buckets(p) ? "What depends on the frame, with the buckets of device stages"
                            : "What depends on the frame",
             "stage",
             "bucket",
             columns_of(columns),
             {}};
  for (const planned_stage& stage : p.stages) {
    if (!stage.decided_per_frame()) continue;
    made.rows.push_back(row_of(decided{stage}, columns));
    for (const planned_bucket& bucket : stage.buckets) {
      made.rows.push_back(row_of(decided{stage, &bucket}, columns, 1));
    }
  }
  made.titled = true;
  return made;
}

/// A tensor and its offset in the memory of a frame, in bytes.
struct placed_tensor {
  const planned_tensor& of;
  std::size_t offset;
};

table tensor_table(const plan& p, const placement& placed) {
  std::vector<placed_tensor> tensors;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    tensors.push_back({p.tensors[t], placed.tensor_offset[t]});
  }
  using enum unit;
  using t = const placed_tensor&;
  auto made = table_of<placed_tensor>(
      {"tensors", "Tensors of a frame", "tensor"},
      {{{"name", "tensor"}, [](t x) { return x.of.name; }},
       {{"type", "shape"},
        [](t x) {
          const auto& type = x.of.type;
          auto text = type.element == dtype::float32 ? to_string(type.shape) : to_string(type);
          if (x.of.layout == tensor_layout::channels_last) text += ", channels last";
          return text;
        }},
       {{"bytes", "size", bytes}, [](t x) { return cell(x.of.type.bytes(), bytes); }},
       {{"on", "on"},
        [&](t x) {
          const bool named = x.of.on == side::device && p.devices.size() > 1;
          return named ? cell(p.devices[x.of.device].name) : cell(std::string(to_word(x.of.on)));
        }},
       {{"offset", "at", bytes, 12},
        [](t x) { return x.of.input ? cell() : cell(x.offset, bytes); }},
       {{"from", "from", {}, 10},
        [&](t x) { return x.of.input ? "input" : p.stages[x.of.producer].name; }},
       {{"until", "until", {}, 11},
        [&](t x) {
          return x.of.output() ? "output"
                 : x.of.input  ? "kept"
                               : p.stages[x.of.consumers.back()].name;
        }}},
      tensors);
  made.titled = true;
  return made;
}

struct memory_row {
  std::string what;
  std::vector<std::uint64_t> devices;
  std::uint64_t host;
};

table memory_table(const plan& p, const placement& placed, const plan_target& target) {
  const memory_need need = need_of(p, placed);
  const std::uint64_t record = record_and_report_bytes(p, target);
  const bool layers = p.run.timing == timing_method::layers;
  const auto each = [&](auto bytes_of) {
    std::vector<std::uint64_t> list;
    for (const memory_part& part : need.devices) list.push_back(bytes_of(part));
    return list;
  };
  const std::vector<std::uint64_t> nothing(need.devices.size());
  const std::vector<memory_row> rows = {
      {"a frame, without reuse",
       {placed.device_blocks_without_reuse.begin(), placed.device_blocks_without_reuse.end()},
       placed.pinned_bytes_without_reuse},
      {"a frame, buffers reused", each([](auto& of) { return of.slot; }), need.host.slot},
      {fmt::format("{} in flight", counted(p.run.in_flight, "frame")),
       each([](auto& of) { return of.slots; }), need.host.slots},
      {"inputs", each([](auto& of) { return of.inputs; }), need.host.inputs},
      {"weights", each([](auto& of) { return of.weights; }), need.host.weights},
      {fmt::format("record and reports of {}{}", counted(p.run.frames, "frame"),
                   layers ? ", without layers" : ""),
       nothing, record},
      {"together", each([](auto& of) { return of.total(); }),
       saturating_add(need.host.total(), record)}};
  using r = const memory_row&;
  std::vector<column_of<memory_row>> columns = {{{"what", "of"}, [](r x) { return x.what; }}};
  for (std::size_t d = 0; d < p.devices.size(); ++d) {
    const std::string& name = p.devices[d].name;
    columns.push_back({p.devices.size() > 1 ? column{"on_" + name, name, unit::bytes}
                                            : column{"device", "device", unit::bytes},
                       [d](r x) { return cell(x.devices[d], unit::bytes); }});
  }
  columns.push_back({{"host", "host", unit::bytes}, [](r x) { return cell(x.host, unit::bytes); }});
  auto made = table_of<memory_row>(
      {"memory", "Memory, without the scratch that stages ask for once they are prepared", "what"},
      columns, rows);
  made.titled = true;
  return made;
}

/// Returns the pairs of devices that exchange tensors through the CPU, by reason.
std::map<std::string, std::vector<std::string>> apart(const plan& p) {
  std::map<std::string, std::vector<std::string>> pairs;
  for (std::size_t b = 0; b < p.devices.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (p.devices[a].exchanges_with(b)) continue;
      pairs[p.devices[a].apart[b]].push_back(
          fmt::format("{} and {}", p.devices[a].name, p.devices[b].name));
    }
  }
  return pairs;
}

}  // namespace

document describe(const plan& p, const plan_target& target, int cores) {
  document made{"plan", p.pipeline, p.description, {}, {}, {}, "stages"};
  auto device = "device " + target.backend;
  if (target.device_memory_bytes > 0) {
    device += fmt::format(", {} of memory", format_bytes(target.device_memory_bytes));
  }
  if (!target.present) device += ", which is not on this machine";
  if (!p.devices.front().name.empty()) {
    std::vector<std::string> names;
    for (const planned_device& d : p.devices) {
      names.push_back(fmt::format("{} ({}{})", d.name, d.request,
                                  d.present ? "" : ", which is not on this machine"));
    }
    device = fmt::format("devices {}", fmt::join(names, ", "));
  }
  made.lines = {p.pipeline, p.description, device, parameters_of(p.parameters),
                fmt::format("{}; {} after {} warm-up; timing={}", way_of(p.run, cores),
                            counted(p.run.frames, "frame"), p.run.warmup, to_word(p.run.timing))};
  std::erase(made.lines, "");
  made.parts.push_back(facts{"", "", {{"device", "", p.devices.front().backend}}, in_data});
  auto settings = settings_facts(p.run);
  settings.push_back(parameters_fact(p.parameters));
  made.parts.push_back(facts{"settings", "", std::move(settings), in_data});
  made.parts.push_back(stage_table(p));
  if (p.schedule.properties.one_launch) {
    made.parts.push_back(
        note{fmt::format("the whole frame is one graph, with CPU stages as host nodes; {} of it, "
                         "one per frame in flight",
                         counted(p.run.in_flight, "executable"))});
  }
  if (std::ranges::any_of(p.stages, &planned_stage::decided_per_frame)) {
    made.parts.push_back(decision_table(p));
    if (has_buckets(p)) {
      made.parts.push_back(note{"the buckets of a stage share its tensors, weights and scratch"});
    }
  }
  made.parts.push_back(edge_table(p));
  if (!p.transfers.empty()) made.parts.push_back(transfer_table(p));
  for (const auto& [reason, pairs] : apart(p)) {
    made.parts.push_back(
        note{fmt::format("tensors between {} go through pinned memory on the CPU: {}",
                         fmt::join(pairs, "; "), reason)});
  }
  const placement placed = place_buffers(p, {});
  made.parts.push_back(tensor_table(p, placed));
  made.parts.push_back(memory_table(p, placed, target));
  return made;
}

}  // namespace graphline::report
