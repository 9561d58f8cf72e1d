#include "framework/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// Builds the plan's stages and tensors from a sound draft. Inserts a copy for each tensor that is
/// written on the host and read on the device, or the other way around.
///
/// A copy follows the stage that writes its tensor; copies of inputs come first. A host thread that
/// enqueues in this order overlaps the copy with CPU work between the writer and the reader.
class assembler {
 public:
  explicit assembler(draft& d)
      : draft_(d),
        original_(d.tensors.size(), none),
        copied_(d.tensors.size(), none),
        planned_(d.stages.size(), none) {}

  plan build() {
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
    stage.on = from.kind->moves ? side::device : from.kind->on;
    stage.level = from.spec->priority;
    stage.priority = stream_priority(stage.level);
    stage.deadline = from.spec->deadline;
    stage.cores = from.spec->cores.cpus;
    const side reads_on = reading_side(draft_, from);
    for (const std::size_t t : from.reads) stage.reads.push_back(on_side(t, reads_on));
    for (const alternative_read& other : from.otherwise) {
      stage.otherwise.push_back({other.input, on_side(other.tensor, reads_on)});
    }
    if (from.rows != none) stage.rows = on_side(from.rows, side::cpu);
    if (from.when != none) stage.when = on_side(from.when, side::cpu);
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

  /// Returns a draft tensor's planned tensor on a side: the original or its copy.
  std::size_t on_side(std::size_t t, side s) const {
    return draft_.tensors[t].on == s ? original_[t] : copied_[t];
  }

  /// Returns the first stage that reads the tensor on the other side, or null.
  const draft_stage* first_reader_across(const draft_tensor& tensor) const {
    if (tensor.on == side::device && !tensor.deciders.empty()) {
      return &draft_.stages[tensor.deciders.front()];
    }
    for (const std::size_t r : tensor.readers) {
      const draft_stage& reader = draft_.stages[r];
      if (reading_side(draft_, reader) != tensor.on) return &reader;
    }
    return nullptr;
  }

  void copy_where_needed(std::size_t t) {
    const draft_tensor& tensor = draft_.tensors[t];
    const draft_stage* reader = first_reader_across(tensor);
    if (reader == nullptr) return;
    const stage_kind* kind = copy_kind(tensor, *reader);
    if (kind == nullptr) return;
    const bool to_cpu = tensor.on == side::device;

    planned_stage stage;
    stage.name = "copy:" + tensor.name;
    stage.kind = kind;
    stage.on = side::device;
    stage.inserted = true;
    inherit(stage, tensor);
    stage.reads = {original_[t]};
    diagnostics found;
    stage.config.arguments = bind_arguments(kind->parameters, node::mapping({}), stage.name,
                                            tensor.where, draft_.spec.directory, found);
    const tensor_type inputs[] = {*tensor.type};
    if (!forward(found, draft_.out)) return;
    stage.prepared =
        draft_.prepared.prepare(*kind, stage.name, stage.config.arguments, inputs, draft_.out);
    if (stage.prepared == nullptr || !copy_rows(stage, tensor, inputs[0])) return;

    planned_tensor copy = plan_.tensors[original_[t]];
    copy.name += to_cpu ? "@cpu" : "@device";
    copy.on = to_cpu ? side::cpu : side::device;
    copy.input = false;
    copy.producer = plan_.stages.size();
    copied_[t] = plan_.tensors.size();
    stage.writes = {copied_[t]};
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
    stage.rows = on_side(tensor.rows, side::cpu);
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
  const stage_kind* copy_kind(const draft_tensor& tensor, const draft_stage& reader) {
    const stage_kind* kind = draft_.registry.find("copy");
    const bool moves = kind != nullptr && kind->moves;
    const std::string lack =
        moves ? missing_factory(*kind, draft_.target.backend).value_or("")
              : "the program's registry has no kind 'copy' that moves between the sides";
    if (lack.empty()) return kind;
    draft_.out.error(tensor.where,
                     fmt::format("'{}' lives on the {} and stage '{}' reads it on the {}, which "
                                 "takes a copy, but {}",
                                 tensor.name, to_word(tensor.on), reader.spec->name.text,
                                 to_word(tensor.on == side::cpu ? side::device : side::cpu), lack));
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
  std::vector<std::size_t> copied_;    ///< by draft tensor: copy on the other side, or none
  std::vector<std::size_t> planned_;   ///< by draft stage: the planned stage
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
  read_arrivals(p, places, out);
  if (out.has_errors()) return p;

  p.policy = d.policy;
  p.schedule.properties = properties_of(p.run);
  planning::assign_streams(p);
  if (p.schedule.properties.one_launch) planning::assign_call_streams(p);
  planning::settle_edges(p);
  p.schedule = planning::make_schedule(p);
  planning::choose_forms(p, target.backend);
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
  if (const auto why = why_only_selecting(p); why && !target.selects) {
    out.error(place_of(places, "graphs"), *why);
  }
  return p;
}

}  // namespace graphline
