#include "framework/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/draft.hpp"
#include "framework/plan/rank_parts.hpp"

namespace graphline::planning {
namespace {

/// Builds the plan's stages and tensors from a sound draft. Inserts a copy for each place, other
/// than its own, where a tensor is read. Between devices that cannot exchange tensors, the copy
/// goes through the CPU.
///
/// A copy follows the stage that writes its tensor; copies of inputs come first. A host thread that
/// enqueues in this order overlaps the copy with CPU work between the writer and the reader.
class assembler {
 public:
  explicit assembler(draft& d)
      : draft_(d),
        original_(d.tensors.size(), none),
        copied_(d.tensors.size()),
        planned_(d.stages.size(), none) {}

  plan build() {
    plan_.devices = draft_.devices;
    for (std::size_t t = 0; t < draft_.tensors.size(); ++t) {
      if (draft_.tensors[t].input != nullptr) original_[t] = add_tensor(t);
    }
    for (std::size_t t = 0; t < draft_.tensors.size(); ++t) {
      if (draft_.tensors[t].input != nullptr) copy_where_needed(t);
    }
    for (const std::size_t s : draft_.order) {
      add_stage(s);
      for (const std::size_t t : draft_.stages[s].writes) copy_where_needed(t);
    }
    if (draft_.out.has_errors()) return {};
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) finish(s);
    return std::move(plan_);
  }

 private:
  std::size_t add_tensor(std::size_t t) {
    const draft_tensor& from = draft_.tensors[t];
    planned_tensor tensor;
    tensor.name = from.name;
    tensor.type = *from.type;
    tensor.on = from.on;
    tensor.device = from.device;
    tensor.input = from.input != nullptr;
    if (tensor.input) {
      tensor.fill = from.input->fill;
      tensor.file = from.input->file;
    }
    tensor.producer = plan_.stages.size();
    plan_.tensors.push_back(std::move(tensor));
    return plan_.tensors.size() - 1;
  }

  void add_stage(std::size_t s) {
    const draft_stage& from = draft_.stages[s];
    planned_stage stage;
    stage.name = from.spec->name.text;
    stage.kind = from.kind;
    stage.config.arguments = from.arguments;
    stage.prepared = from.prepared;
    stage.rank = from.spec->rank;
    stage.on = from.kind->moves ? side::device : from.kind->on;
    stage.device = from.device;
    stage.level = from.spec->priority;
    stage.priority = stream_priority(stage.level);
    stage.deadline = from.spec->deadline;
    stage.cores = from.spec->cores.cpus;
    const tensor_place place = reading_place(draft_, from);
    for (const std::size_t t : from.reads) stage.reads.push_back(at(t, place));
    for (const alternative_read& other : from.otherwise) {
      stage.otherwise.push_back({other.input, at(other.tensor, place)});
    }
    if (from.rows != none) stage.rows = at(from.rows, {});
    if (from.when != none) stage.when = at(from.when, {});
    stage.row_reads = from.row_reads;
    stage.row_writes = from.row_writes;
    stage.capacity = from.capacity;
    stage.buckets = from.buckets;
    stage.conditional = !from.guards.empty();
    for (const std::size_t t : from.writes) {
      original_[t] = add_tensor(t);
      stage.writes.push_back(original_[t]);
    }
    for (const draft_link& link : from.links) {
      if (link.tensor == none) wait_for(stage, planned_[link.earlier]);
    }
    planned_[s] = plan_.stages.size();
    plan_.stages.push_back(std::move(stage));
  }

  /// Returns a draft tensor's planned tensor at a place: the original or its copy; none after an
  /// error.
  std::size_t at(std::size_t t, const tensor_place& place) const {
    if (place_of(draft_.tensors[t]) == place) return original_[t];
    const auto copy = copied_[t].find(place);
    return copy == copied_[t].end() ? none : copy->second;
  }

  /// Copies a tensor to each place where a stage reads it, in the order of these stages.
  void copy_where_needed(std::size_t t) {
    const draft_tensor& tensor = draft_.tensors[t];
    const auto copy_for = [&](std::size_t s, const tensor_place& place) {
      if (place != place_of(tensor)) copy_to(place, t, draft_.stages[s]);
    };
    for (const std::size_t s : tensor.deciders) copy_for(s, {});
    for (const std::size_t s : tensor.readers) {
      copy_for(s, reading_place(draft_, draft_.stages[s]));
    }
  }

  void copy_to(const tensor_place& place, std::size_t t, const draft_stage& reader) {
    if (copied_[t].contains(place)) return;
    const draft_tensor& tensor = draft_.tensors[t];
    const bool between_devices = tensor.on == side::device && place.on == side::device;
    std::size_t from = original_[t];
    if (between_devices && !draft_.devices[place.device].exchanges_with(tensor.device)) {
      copy_to({}, t, reader);
      if (!copied_[t].contains({})) return;
      from = copied_[t].at({});
    }
    const bool to_cpu = place.on == side::cpu;
    const std::size_t device = to_cpu ? tensor.device : place.device;
    const stage_kind* kind = copy_kind(tensor, reader, place, device);
    if (kind == nullptr) return;

    planned_stage stage;
    stage.name = "copy:" + tensor.name;
    const bool several = draft_.devices.size() > 1;
    const std::string where = to_cpu    ? "@cpu"
                              : several ? '@' + draft_.devices[device].name
                                        : "@device";
    if (several) stage.name += where;
    stage.kind = kind;
    stage.on = side::device;
    stage.device = device;
    stage.inserted = true;
    inherit(stage, tensor);
    stage.reads = {from};
    diagnostics found;
    stage.config.arguments = bind_arguments(kind->parameters, node::mapping({}), stage.name,
                                            tensor.where, draft_.spec.directory, found);
    const tensor_type inputs[] = {*tensor.type};
    if (!forward(found, draft_.out)) return;
    stage.prepared =
        draft_.prepared.prepare(*kind, stage.name, stage.config.arguments, inputs, draft_.out);
    if (stage.prepared == nullptr || !copy_rows(stage, tensor, inputs[0])) return;

    planned_tensor copy = plan_.tensors[original_[t]];
    copy.name += where;
    copy.on = place.on;
    copy.device = place.device;
    copy.input = false;
    copy.producer = plan_.stages.size();
    stage.writes = {plan_.tensors.size()};
    copied_[t].emplace(place, plan_.tensors.size());
    plan_.tensors.push_back(std::move(copy));
    plan_.stages.push_back(std::move(stage));
  }

  /// Lets a copy of a tensor with rows move the rows of the frame, in the buckets of the producer
  /// or, if that has none, of all readers. Lets it be skipped with the producer.
  /// @return false after an error
  bool copy_rows(planned_stage& stage, const draft_tensor& tensor, const tensor_type& type) {
    if (tensor.producer == none) return true;
    const draft_stage& producer = draft_.stages[tensor.producer];
    stage.conditional = !producer.guards.empty();
    if (tensor.rows == none) return true;
    stage.rows = at(tensor.rows, {});
    stage.row_reads = stage.row_writes = {0};
    stage.capacity = producer.capacity;
    std::set<std::int64_t> rows = {stage.capacity};
    const auto add = [&](const draft_stage& of) {
      for (const planned_bucket& bucket : of.buckets) rows.insert(bucket.rows);
    };
    add(producer);
    for (const std::size_t r : tensor.readers) {
      if (producer.buckets.empty()) add(draft_.stages[r]);
    }
    const auto buckets =
        prepare_buckets(draft_, *stage.kind, stage.name, stage.config.arguments, {type}, {0}, {0},
                        stage.prepared, {rows.begin(), rows.end()});
    if (buckets) stage.buckets = *buckets;
    return buckets.has_value();
  }

  /// Returns the registered kind for inserted copies, or null after an error.
  const stage_kind* copy_kind(const draft_tensor& tensor, const draft_stage& reader,
                              const tensor_place& to, std::size_t device) {
    const stage_kind* kind = draft_.registry.find("copy");
    const bool moves = kind != nullptr && kind->moves;
    const std::string lack =
        moves ? missing_factory(*kind, draft_.devices[device].backend).value_or("")
              : "the program's registry has no kind 'copy' that moves between the sides";
    if (lack.empty()) return kind;
    draft_.out.error(
        tensor.where,
        fmt::format("'{}' lives on the {} and stage '{}' reads it on the {}, which "
                    "takes a copy, but {}",
                    tensor.name, to_word(tensor.on), reader.spec->name.text, to_word(to.on), lack));
    return nullptr;
  }

  /// Gives a copy the highest priority among the writer and readers of the copied tensor, and the
  /// earliest deadline.
  void inherit(planned_stage& copy, const draft_tensor& tensor) const {
    copy.level = -most_level;
    const auto consider = [&](std::size_t s) {
      const stage_spec& of = *draft_.stages[s].spec;
      copy.level = std::max(copy.level, of.priority);
      if (of.deadline) copy.deadline = std::min(copy.deadline.value_or(*of.deadline), *of.deadline);
    };
    if (tensor.producer != none) consider(tensor.producer);
    std::for_each(tensor.readers.begin(), tensor.readers.end(), consider);
    copy.priority = stream_priority(copy.level);
  }

  /// Returns the entry for `earlier` in the stage's waits; adds it if missing.
  static dependency& wait_for(planned_stage& stage, std::size_t earlier) {
    const auto at = std::lower_bound(
        stage.waits.begin(), stage.waits.end(), earlier,
        [](const dependency& wait, std::size_t index) { return wait.stage < index; });
    if (at != stage.waits.end() && at->stage == earlier) return *at;
    return *stage.waits.insert(at, {earlier, satisfied_by::stream_order, {}});
  }

  /// Fills edges, consumers, types and the seed.
  void finish(std::size_t index) {
    planned_stage& stage = plan_.stages[index];
    const auto consume = [&](std::size_t t, bool decides) {
      planned_tensor& tensor = plan_.tensors[t];
      // A tensor that one stage reads twice is listed once.
      const bool first = tensor.consumers.empty() || tensor.consumers.back() != index;
      if (first) tensor.consumers.push_back(index);
      if (tensor.input) return;
      dependency& wait = wait_for(stage, tensor.producer);
      if (first) wait.tensors.push_back(t);
      wait.decides = wait.decides || decides;
    };
    for (const std::size_t t : stage.reads) {
      stage.config.inputs.push_back(plan_.tensors[t].type);
      consume(t, false);
    }
    for (const alternative_read& other : stage.otherwise) consume(other.tensor, false);
    if (stage.rows) consume(*stage.rows, true);
    if (stage.when) consume(*stage.when, true);
    for (const std::size_t t : stage.writes) stage.config.outputs.push_back(plan_.tensors[t].type);
    stage.config.name = stage.name;
    stage.config.seed = mix_seed(draft_.spec.run.seed, seed_from(stage.name));
  }

  draft& draft_;
  plan plan_;
  std::vector<std::size_t> original_;  ///< by draft tensor: the planned tensor
  std::vector<std::map<tensor_place, std::size_t>> copied_;  ///< by draft tensor
  std::vector<std::size_t> planned_;                         ///< by draft stage: the planned stage
};

}  // namespace

plan assemble(draft& d) {
  return assembler(d).build();
}

}  // namespace graphline::planning

namespace graphline {
namespace {

/// Returns the place of a setting, or of the section.
const place& place_of(const settings_places& places, const char* key) {
  const auto given = places.each.find(key);
  return given == places.each.end() ? places.section : given->second;
}

/// Reads the arrivals of a trace, and limits the frames to these.
void read_arrivals(plan& p, const settings_places& places, diagnostics& out) {
  if (p.run.arrival != arrival::trace || !p.run.arrival_file) return;
  p.arrivals = read_arrival_trace(*p.run.arrival_file, place_of(places, "arrival_file"), out);
  if (p.arrivals == nullptr) return;
  if (p.run.rate && p.arrivals->mean_gap == 0) {
    out.error(place_of(places, "rate"),
              fmt::format("rate: {} cannot scale the times in {}, which are all the same; omit the "
                          "rate",
                          *p.run.rate, quote(*p.run.arrival_file, 200)));
  }
  const std::int64_t frames = frames_that_arrive(p, p.run.frames);
  if (frames < p.run.frames && places.each.contains("frames")) {
    out.warning(place_of(places, "frames"),
                fmt::format("frames: {} is more than arrive in {}; the run has {}", p.run.frames,
                            quote(*p.run.arrival_file, 200), frames));
  }
  p.run.frames = frames;
}

}  // namespace

plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               diagnostics& out) {
  prepared_stages prepared;
  return make_plan(spec, registry, target, prepared, out);
}

plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               prepared_stages& prepared, diagnostics& out) {
  settings_places places = spec.run_places;
  if (!places.section) places.section = spec.name.place;
  check_settings(spec.run, places, out);

  planning::draft d{spec, registry, target, prepared, out};
  planning::resolve_devices(d);
  planning::resolve_policy(d);
  planning::resolve_kinds(d);
  planning::resolve_ports(d);
  planning::declare_tensors(d);
  planning::resolve_links(d);
  planning::put_in_order(d);
  planning::choose_sides(d);
  planning::prepare_stages(d);

  plan p;
  if (!out.has_errors()) {
    p = planning::assemble(d);
  }
  p.pipeline = spec.name.text;
  p.description = spec.description;
  p.source = spec.source;
  p.parameters = spec.parameters;
  p.run = spec.run;
  for (const stage_spec& stage : spec.stages) p.ranks = std::max(p.ranks, stage.rank + 1);
  read_arrivals(p, places, out);
  if (out.has_errors()) return p;
  if (!d.missing.empty()) throw no_device_error(d.missing);
  p.schedule.properties = properties_of(p.run);
  if (p.devices.size() > 1 && p.schedule.properties.one_launch) {
    out.error(place_of(places, "graphs"),
              "graphs: frame cannot run on several devices, because a graph belongs to one device; "
              "use graphs: stage");
  }
  if (out.has_errors()) return p;

  p.policy = d.policy;
  planning::assign_streams(p);
  if (p.schedule.properties.one_launch) planning::assign_call_streams(p);
  planning::settle_edges(p);
  p.schedule = planning::make_schedule(p);
  planning::choose_forms(p);
  planning::check_memory(d, p);
  warn_of_polling({&p}, target.cpus, place_of(places, "realtime"), out);
  planning::warn_of_streams(p, place_of(places, "streams"), out);
  const auto has_rows = [](const planned_stage& stage) { return stage.rows.has_value(); };
  if (p.run.batch_frames > 1 && std::ranges::none_of(p.stages, has_rows)) {
    out.warning(place_of(places, "batch_frames"),
                fmt::format("batch_frames: {} makes a batch cost what one frame costs, because no "
                            "stage has 'rows', and so overstates the throughput; set 'rows' to the "
                            "count of a stage cpu.batch",
                            p.run.batch_frames));
  }
  if (p.ranks > 1) p.transfers = transfers_of(spec, p, out);
  if (const auto why = why_only_selecting(p); why && !d.machines.front().selects) {
    out.error(place_of(places, "graphs"), *why);
  }
  return p;
}

}  // namespace graphline
