#include "tools/graphline/rank_support.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <string_view>
#include <variant>

#include "framework/base/json_reader.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/ranks/mpi_communicator.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/spec/settings_table.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

record_text records_as_json() {
  return {[](const run_record& record) { return json_in_one_line(record_json(&record)); },
          [](const std::string& text) {
            const auto parsed = read_json(text);
            return std::get<run_record>(record_from(0, json_part(parsed, "record")));
          }};
}

trial_text trials_as_json(const experiment_plan& planned) {
  std::vector<std::size_t> members;
  for (const auto& each : planned.configurations) members.push_back(each.members.size());
  return {[](const trial_record& trial) { return json_in_one_line(part_json(trial)); },
          [members](const std::string& text) {
            const auto parsed = read_json(text);
            const json_part from(parsed, "trial");
            auto trial = trial_from(from);
            check_trial(from, trial, members);
            return trial;
          }};
}

std::vector<std::string> shared_with_ranks(const communicator& messages,
                                           const device_properties& device) {
  if (messages.local_size() == 1) return {};
  if (device.backend == "host") {
    const auto cores = std::ssize(affinity_cpus());
    const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 1 && cores < all) return {};
    std::string text =
        cores == 1 ? "bound to one core, on which the device and the host's threads take turns"
                   : fmt::format("{} ranks of this machine share its {} cores",
                                 messages.local_size(), all);
    if (all >= 2 * messages.local_size()) {
      text += "; mpirun --map-by slot:PE=N binds each rank to N cores";
    } else if (all >= 2) {
      text += fmt::format("; with two cores each, this machine has room for {} rank{}", all / 2,
                          all / 2 == 1 ? "" : "s");
    }
    return {std::move(text)};
  }
  // A launcher may have given each rank its own GPU.
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) return {};
  std::string reason;
  for (const backend& known : builtin_devices().backends()) {
    if (known.name != device.backend) continue;
    const auto present = std::ssize(known.list(reason));
    if (present >= messages.local_size()) continue;
    return {
        fmt::format("{} ranks of this machine share its {} GPUs", messages.local_size(), present)};
  }
  return {};
}

exit_status status_after(const std::exception& e) {
  const auto* const known = dynamic_cast<const error*>(&e);
  return known != nullptr ? known->status() : exit_status::run_failed;
}

exit_status on_ranks(const std::function<exit_status(communicator&, const stop_request&)>& body) {
  const stop_request& interrupted = stop_on_interrupt();
  const auto messages = join_ranks();
  try {
    return body(*messages, interrupted);
  } catch (const std::exception& e) {
    print_error(fmt::format("rank {}: {}", messages->rank(), reason_of(e)));
    // Leaving MPI would wait for the other ranks, which wait for this one.
    messages->abort(static_cast<int>(status_after(e)));
    return status_after(e);  // gcc does not see that a virtual function never returns
  }
}

std::optional<exit_status> prepare_job(rank_job& job, const std::function<std::string()>& step) {
  try {
    job.prepare(step);
    return std::nullopt;
  } catch (const rank_refused& e) {
    return job.finish(e.status());
  } catch (const error& e) {
    print_error(e.what());
    return job.finish(e.status());
  }
}

namespace {

/// Returns what must be the same on all ranks: the file, parameters, settings and transfers.
std::string text_of(const plan& p) {
  std::string text(p.source ? p.source->text() : "");
  for (const auto& [name, value] : p.parameters) text += fmt::format("{}={}\n", name, value);
  each_setting([&](auto member, const setting_entry& of) {
    text += fmt::format("{}={}\n", of.key, written(p.run.*member));
  });
  for (const rank_transfer& each : p.transfers) {
    text += fmt::format("{} {} {} {}\n", each.name, to_string(each.type), each.from, each.to);
  }
  return text;
}

}  // namespace

plan part_of_pipeline::make(pipeline_options& pipeline, communicator& messages,
                            const stop_request& stop) {
  const int rank = messages.rank();
  pipeline_spec declared;
  plan whole =
      pipeline
          .plan_to(plan_use::run, {}, rank == 0, {}, [&](pipeline_spec& spec) { declared = spec; })
          .planned;
  text_ = text_of(whole);
  if (whole.ranks == 1) return whole;
  if (whole.ranks != messages.size()) {
    throw input_error(
        fmt::format("pipeline '{0}' has stages on ranks 0 to {1}, and MPI started {2}; use mpirun "
                    "-n {3}",
                    printable(whole.pipeline), whole.ranks - 1, messages.size(), whole.ranks));
  }
  transfers_ = whole.transfers;
  // A sender that is ahead by the frames in flight never waits for a frame that waits for it.
  links_ = std::make_unique<tensor_links>(messages, links_of_rank(transfers_, rank),
                                          static_cast<std::size_t>(whole.run.in_flight) + 1,
                                          whole.run.wait, stop);
  add_link_kinds(pipeline.stages(), transfers_, rank, *links_);
  pipeline_spec part = part_of_rank(declared, whole, rank);
  whole = {};  // with the weights of other ranks
  return pipeline
      .plan_to(plan_use::run, {}, false, {}, [&](pipeline_spec& spec) { spec = std::move(part); })
      .planned;
}

std::string what_runs(const std::string& name, std::string_view of, const std::string& texts) {
  return fmt::format("'{}' ({} {:x}) with graphline {}", printable(name), of, seed_from(texts),
                     version());
}

}  // namespace graphline
