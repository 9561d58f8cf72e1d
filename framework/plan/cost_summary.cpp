#include "framework/plan/cost_summary.hpp"

namespace graphline {
namespace {

using figure = std::optional<std::int64_t>;

figure sum_of(const figure& a, const figure& b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

std::optional<double> intensity_of(const cost_figures& of) {
  const figure moved = sum_of(of.bytes_read, of.bytes_written);
  if (!of.flops || !moved || *moved <= 0) return std::nullopt;
  return static_cast<double>(*of.flops) / static_cast<double>(*moved);
}

cost_figures figures_of(const cost& work, known_cost known) {
  cost_figures result;
  if (known == known_cost::none) return result;
  result.parameters = work.parameters;
  result.bytes_read = work.bytes_read;
  result.bytes_written = work.bytes_written;
  result.bytes_rearranged = work.bytes_rearranged;
  if (known == known_cost::bytes) return result;
  result.macs = work.macs;
  result.flops = work.flops;
  result.intensity = intensity_of(result);
  return result;
}

void add(cost_figures& sum, const cost_figures& more) {
  sum.parameters = sum_of(sum.parameters, more.parameters);
  sum.macs = sum_of(sum.macs, more.macs);
  sum.flops = sum_of(sum.flops, more.flops);
  sum.bytes_read = sum_of(sum.bytes_read, more.bytes_read);
  sum.bytes_written = sum_of(sum.bytes_written, more.bytes_written);
  sum.bytes_rearranged = sum_of(sum.bytes_rearranged, more.bytes_rearranged);
}

stage_figures stage_of(const plan& p, const planned_stage& stage) {
  const prepared_stage& prepared = *stage.prepared;
  stage_figures result{.name = stage.name,
                       .kind = stage.kind->name,
                       .on = stage.on,
                       .inserted = stage.inserted,
                       .outputs = {},
                       .figures = figures_of(prepared.cost, prepared.known),
                       .layers = {}};
  for (const std::size_t t : stage.writes) {
    result.outputs.push_back({p.tensors[t].name, p.tensors[t].type});
  }
  for (const layer_summary& layer : prepared.layers) {
    result.layers.push_back(
        {layer.name, layer.kind, layer.output, figures_of(layer.cost, prepared.known)});
  }
  for (const planned_bucket& bucket : stage.buckets) {
    result.buckets.push_back(
        {bucket.rows, figures_of(bucket.prepared->cost, bucket.prepared->known)});
  }
  return result;
}

/// Sums each figure over the stages for which it is known.
void add_up(cost_summary& summary) {
  const cost_figures nothing = figures_of({}, known_cost::all);
  cost_figures moving = nothing;   // of stages whose bytes are known
  cost_figures counted = nothing;  // of stages whose whole cost is known
  for (std::size_t s = 0; s < summary.stages.size(); ++s) {
    const cost_figures& stage = summary.stages[s].figures;
    if (stage.flops) {
      add(counted, stage);
    } else {
      summary.without_flops.push_back(s);
    }
    if (stage.bytes_read) {
      add(moving, stage);
    } else {
      summary.without_bytes.push_back(s);
    }
  }
  if (summary.without_bytes.size() < summary.stages.size()) {
    summary.total.parameters = moving.parameters;
    summary.total.bytes_read = moving.bytes_read;
    summary.total.bytes_written = moving.bytes_written;
    summary.total.bytes_rearranged = moving.bytes_rearranged;
  }
  if (summary.without_flops.size() < summary.stages.size()) {
    summary.total.macs = counted.macs;
    summary.total.flops = counted.flops;
    summary.total.intensity = intensity_of(counted);
  }
}

}  // namespace

cost_summary summarize_cost(const plan& p) {
  cost_summary result;
  result.pipeline = p.pipeline;
  result.description = p.description;
  result.parameters = p.parameters;
  result.stages.reserve(p.stages.size());
  for (const planned_stage& stage : p.stages) result.stages.push_back(stage_of(p, stage));
  add_up(result);
  return result;
}

}  // namespace graphline
