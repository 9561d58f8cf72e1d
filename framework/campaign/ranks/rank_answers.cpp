#include "framework/campaign/ranks/rank_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "framework/base/stage_activity.hpp"

// How a rank answers the others, and what it concludes from their messages and their silence.

namespace graphline {
namespace {

constexpr nanoseconds millisecond = 1'000'000;
constexpr nanoseconds second = 1'000'000'000;
constexpr nanoseconds wake_up_period = 200 * millisecond;
constexpr nanoseconds progress_period = 400 * millisecond;
/// When another thread takes over from a run that does not end.
constexpr nanoseconds until_stuck = 1500 * millisecond;

/// Returns how long rank 0 waits for the records of others after an interrupt: less than half the
/// time after which mpirun kills all ranks, a second by default.
nanoseconds patience() {
  const char* const set = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
  return std::max(1, set == nullptr ? 1 : std::atoi(set)) * 400 * millisecond;
}

/// Reads the whole number at the start of a text, and removes it and the space after it.
nanoseconds take_number(std::string_view& text) {
  nanoseconds number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return number;
}

/// Returns the stage and frame that the process works on; empty if none.
std::string current_work() {
  std::string text;
  thread_activity::each([&](const stage_point& at) {
    if (text.empty()) text = to_string(at);
  });
  return text;
}

}  // namespace

void rank_job::serve() noexcept {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::nanoseconds(wake_up_period),
                           [this] { return end_thread_; })) {
    if (problem_) continue;
    try {
      pump();
      const bool stuck =
          stopped_ && now() - *stopped_ > until_stuck && own().at < phase::done && abandon_;
      if (!stuck) continue;
      lock.unlock();
      stand_in();
      lock.lock();
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      problem_ = std::current_exception();
      stop_.raise();
    }
  }
}

void rank_job::pump() {
  if (stop_.raised() && !stopped_) halt();
  while (const auto message = messages_.receive()) handle(*message);
  if (now() - told_ < progress_period) return;
  const nanoseconds since = now() - std::exchange(told_, now());
  const auto work = current_work();
  update(own(), work);
  own().heard = now();
  if (leads() && since > longest_silence) {
    // The others gave up meanwhile, or had nobody to answer.
    stop_all(fmt::format("{}: it stood still for {} s", name_of(own()), since / second));
    for (peer& of : peers_) of.heard = now();
  }
  judge_silence();
  if (!leads()) {
    if (own().at == phase::ended) return;
    messages_.send(0, message_kind::progress, fmt::format("{} {}", own().frames_done, work));
    return;
  }
  send_all(message_kind::progress, "");
  judge_stages();
}

void rank_job::handle(const rank_message& message) {
  std::string_view text = message.text;
  peer& from = peers_[static_cast<std::size_t>(message.from)];
  if (from.silent) return;
  from.heard = now();
  switch (message.kind) {
    case message_kind::hello:
      from.at = phase::preparing;
      from.local_rank = take_number(text);
      from.host = text;
      return;
    case message_kind::prepared:
      from.at = phase::prepared;
      from.status = static_cast<exit_status>(take_number(text));
      from.problem = text;
      return;
    case message_kind::ready:
      from.at = phase::ready;
      return;
    case message_kind::progress:
      if (!leads()) return;
      from.frames_done = take_number(text);
      update(from, std::string(text));
      return;
    case message_kind::done:
      from.at = std::max(from.at, phase::done);
      return;
    case message_kind::result:
      take_result(from, text);
      return;
    case message_kind::clock:
      if (!leads()) {
        clock_arrived_ = from.heard;
        messages_.send(0, message_kind::clock, fmt::format("{} {}", from.heard, now()));
      } else if (trip_) {
        trip_->arrived = take_number(text);
        trip_->returned = take_number(text);
        trip_->answered = from.heard;
      }
      return;
    case message_kind::work:
    case message_kind::answer:
      inbox_.push_back(message);
      return;
    case message_kind::go:
      let_go_ = static_cast<exit_status>(take_number(text));
      return;
    case message_kind::begin:
      starts_ = take_number(text);
      return;
    case message_kind::stop:
      halt();
      return;
    case message_kind::all_done:
      all_done_ = true;
      return;
    case message_kind::end:
      may_end_ = true;
      return;
  }
}

/// A result begins with "record", "failed", "interrupted" or "stuck" before a record, which may be
/// missing after "stuck", or with "error" before a message.
void rank_job::take_result(peer& of, std::string_view text) {
  const auto end = text.find(' ');
  const auto kind = text.substr(0, end);
  text.remove_prefix(end + 1);
  of.at = phase::ended;
  if (kind == "error") {
    of.lost = text;
    stop_all(fmt::format("{}: {}", name_of(of), of.lost));
    return;
  }
  of.result = text;
  if (kind == "stuck") {
    must_abort_ = true;
    if (text.empty()) of.lost = "a stage did not return, and no frame was complete";
    stop_all(fmt::format("{}: a stage did not return", name_of(of)));
  }
  if (kind == "failed") stop_all(fmt::format("{} failed", name_of(of)));
  if (kind == "interrupted") {
    interrupted_elsewhere_ = true;
    halt();
  }
}

void rank_job::update(peer& of, const std::string& working_on) {
  if (of.working_on == working_on && !working_on.empty()) {
    // The limit of a stage follows from its times before, so its present time must not count.
    if (!measuring()) longest_work_ = std::max(longest_work_, now() - of.working_since);
    return;
  }
  if (!of.working_on.empty()) {
    longest_work_ = std::max(longest_work_, now() - of.working_since);
  }
  of.working_on = working_on;
  of.working_since = now();
}

std::string rank_job::last_seen(const peer& of) {
  std::string text;
  if (of.frames_done > 0) text = fmt::format("; it had done at least {} frames", of.frames_done);
  if (!of.working_on.empty()) text += fmt::format("; it was last seen in {}", of.working_on);
  return text;
}

void rank_job::judge_silence() {
  if (!leads()) {
    // Without rank 0 there is nobody to end the run. After its last message it may take its time.
    if (may_end_ || now() - peers_[0].heard < longest_silence) return;
    fmt::print(stderr, "error: {}: rank 0 has sent no message for {} s\n", name_of(own()),
               longest_silence / second);
    messages_.abort(static_cast<int>(exit_status::run_failed));
  }
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    peer& of = peers_[r];
    if (of.at == phase::ended || messages_.receives_from(static_cast<int>(r))) continue;
    if (now() - of.heard < longest_silence) continue;
    lose(of, fmt::format("it has sent no message for {} s", (now() - of.heard) / second));
  }
}

void rank_job::judge_stages() {
  if (stopped_) return;
  const nanoseconds limit =
      measuring() && warmed_up_ ? std::max(longest_stage, 5 * longest_work_) : longest_first;
  for (const peer& of : peers_) {
    if (of.at < phase::prepared || of.at >= phase::done) continue;
    if (of.working_on.empty() || now() - of.working_since < limit) continue;
    stop_all(fmt::format("{}: {} has not returned for {} s", name_of(of), of.working_on,
                         (now() - of.working_since) / second));
    return;
  }
}

void rank_job::lose(peer& of, const std::string& why) {
  of.lost = why + last_seen(of);
  of.silent = true;
  of.at = phase::ended;
  must_abort_ = true;
  stop_all(fmt::format("{}: {}", name_of(of), of.lost));
}

/// Ends the own run and, on rank 0, those of all ranks.
void rank_job::halt() {
  stop_.raise();
  if (stopped_) return;
  stopped_ = now();
  if (leads()) send_all(message_kind::stop, "");
}

void rank_job::stop_all(const std::string& why) {
  if (!failure_ && !interrupted_.raised()) failure_ = why;
  halt();
}

void rank_job::send_all(message_kind kind, const std::string& text) {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    // Ranks that have ended wait for rank 0 to report, and only need to know that it lives.
    const bool to_ended = kind == message_kind::end || kind == message_kind::progress;
    if (!peers_[r].silent && (to_ended || peers_[r].at != phase::ended))
      messages_.send(static_cast<int>(r), kind, text);
  }
}

bool rank_job::all_at(phase least) const {
  return std::ranges::all_of(peers_, [&](const peer& of) { return of.at >= least; });
}

/// Returns true if mpirun will soon kill the rank. Otherwise, others are waited for as long as they
/// send messages.
bool rank_job::out_of_patience() const {
  return stopped_ && interrupted_.raised() && now() - *stopped_ > patience();
}

}  // namespace graphline
