#include "framework/campaign/ranks/rank_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace graphline {
namespace {

// Work is "send", or a block and the time since the experiment began. A rank answers "send" with
// its trials one by one, and then an empty text.
constexpr const char* send_trials = "send";

}  // namespace

void rank_helpers::begin(std::size_t helper, std::size_t block, nanoseconds elapsed) {
  busy_.push_back(static_cast<int>(helper) + 1);
  job_.assign(busy_.back(), fmt::format("{} {}", block, elapsed));
}

std::optional<std::vector<trial_record>> rank_helpers::trials() {
  for (const int rank : busy_) job_.assign(rank, send_trials);
  std::vector<trial_record> all;
  while (!busy_.empty()) {
    const auto message = job_.next_answer();
    if (!message) return std::nullopt;
    if (message->text.empty()) {
      std::erase(busy_, message->from);
    } else {
      all.push_back(text_.read(message->text));
    }
  }
  return all;
}

void run_assigned_blocks(rank_job& job, const trial_place& place,
                         const std::vector<std::string>& warnings, const experiment_plan& planned,
                         trial_runner& runner, const trial_text& text) {
  std::vector<trial_record> trials;
  while (const auto work = job.next_work()) {
    if (*work == send_trials) {
      for (const auto& trial : trials) job.send_answer(text.write(trial));
      job.send_answer("");
      trials.clear();
      continue;
    }
    std::istringstream words(*work);
    std::size_t block = 0;
    nanoseconds elapsed = 0;
    words >> block >> elapsed;
    try {
      trials = run_block(planned, runner, block, elapsed, job.stop());
    } catch (const interrupted_error&) {
      break;
    } catch (const error& e) {
      job.fail(e.what());
      return;
    }
    for (auto& trial : trials) {
      trial.place = place;
      add_warnings(trial, warnings);
    }
  }
}

}  // namespace graphline
