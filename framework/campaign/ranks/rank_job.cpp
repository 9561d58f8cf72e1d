#include "framework/campaign/ranks/rank_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "framework/base/thread_number.hpp"

namespace graphline {
namespace {

constexpr nanoseconds until_start = 20'000'000;
// The quickest round trip counts, so more are made until one is quick.
constexpr std::size_t least_trips = 50;
constexpr std::size_t most_trips = 1000;
constexpr nanoseconds quick_enough = 2'000;  ///< error of the offset

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

void wait_until(nanoseconds at, const stop_request& stop) {
  while (now() < at && !stop.raised()) {
    if (at - now() > 200'000) {
      ::usleep(100);
    } else {
      pause_briefly();
    }
  }
}

}  // namespace

rank_job::rank_job(communicator& messages, record_text text, const stop_request& interrupted)
    : messages_(messages),
      text_(std::move(text)),
      interrupted_(interrupted),
      stop_(&interrupted),
      peers_(static_cast<std::size_t>(messages.size())) {
  own().host = machine_name();
  own().local_rank = messages.local_rank();
  own().at = phase::preparing;
  for (peer& each : peers_) each.heard = now();
  told_ = now();
  if (!leads()) {
    messages_.send(0, message_kind::hello, fmt::format("{} {}", own().local_rank, own().host));
  }
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& e) {
    throw thread_start_error("the thread that answers other ranks could not be started", e);
  }
}

rank_job::~rank_job() {
  {
    const std::scoped_lock lock(mutex_);
    end_thread_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

/// Handles messages until the condition holds.
template <class Condition>
void rank_job::await(const Condition& met) {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      if (problem_) std::rethrow_exception(problem_);
      pump();
      if (met()) return;
    }
    // Spins while the clock is measured, for short round trips; others may still measure frames.
    if (now() - clock_arrived_ < 2'000'000) {
      ::sched_yield();
    } else {
      ::usleep(1000);
    }
  }
}

std::string rank_job::name_of(const peer& of) const {
  return rank_name(&of - peers_.data(), of.host);
}

// ---- The run ------------------------------------------------------------------------------------

void rank_job::prepare(const std::function<std::string()>& step) {
  std::string problem;
  auto status = exit_status::done;
  try {
    problem = step();
  } catch (const error& e) {
    status = e.status();
    problem = e.what();
  } catch (const std::exception& e) {
    status = exit_status::run_failed;
    problem = reason_of(e);
  }
  if (!leads()) {
    {
      const std::scoped_lock lock(mutex_);
      messages_.send(0, message_kind::prepared,
                     fmt::format("{} {}", static_cast<int>(status), problem));
    }
    await([this] { return let_go_ || may_end_; });
    const exit_status told = let_go_.value_or(exit_status::interrupted);
    if (told != exit_status::done) throw rank_refused(told);
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::prepared;
    own().status = status;
    own().problem = problem;
  }
  await([this] { return all_at(phase::prepared) || failure_ || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  for (peer& of : peers_) {
    if (of.at >= phase::prepared) continue;
    of.lost = "preparation was not complete when the run stopped";
    must_abort_ = true;
  }
  std::vector<std::string> problems;
  for (peer& of : peers_) {
    const bool sound = of.status == exit_status::done && own().status == exit_status::done;
    if (of.lost.empty() && sound && of.problem != problem) {
      of.status = exit_status::bad_input;
      of.problem =
          fmt::format("it runs {}, and rank 0 {}; all ranks need the same", of.problem, problem);
    }
    if (of.status == exit_status::done && of.lost.empty()) continue;
    if (status == exit_status::done) status = of.lost.empty() ? of.status : exit_status::run_failed;
    problems.push_back(fmt::format("{}: {}", name_of(of), of.lost.empty() ? of.problem : of.lost));
  }
  if (interrupted_.raised() && !problems.empty()) status = exit_status::interrupted;
  send_all(message_kind::go, fmt::to_string(static_cast<int>(status)));
  if (problems.empty()) return;
  const bool shared = std::ranges::all_of(
      peers_, [&](const peer& of) { return of.lost.empty() && of.problem == problem; });
  throw error(status, shared ? problem : fmt::format("{}", fmt::join(problems, "\n")));
}

void rank_job::if_stuck(std::function<std::optional<run_record>()> abandon,
                        std::function<void(ranks_record*, const std::string&)> report) {
  const std::scoped_lock lock(mutex_);
  abandon_ = std::move(abandon);
  report_ = std::move(report);
}

void rank_job::note_progress(bool warmup, std::int64_t frames_done) {
  const std::scoped_lock lock(mutex_);
  if (warmup) {
    warmed_up_ = warmed_up_ || frames_done > 0;
  } else {
    own().frames_done = frames_done;
  }
}

void rank_job::begin() {
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::ready;
    if (!leads()) messages_.send(0, message_kind::ready, "");
  }
  if (!leads()) {
    await([this] { return starts_ || stopped_; });
  } else {
    await([this] { return all_at(phase::ready) || stopped_; });
    const std::scoped_lock lock(mutex_);
    if (stopped_ || !measure_clocks()) return;
    starts_ = now() + until_start;
    for (std::size_t r = 1; r < peers_.size(); ++r) {
      messages_.send(static_cast<int>(r), message_kind::begin,
                     fmt::to_string(*starts_ + peers_[r].clock.back().offset));
    }
  }
  if (!starts_) return;
  {
    const std::scoped_lock lock(mutex_);
    for (peer& each : peers_) each.working_since = now();
  }
  wait_until(*starts_, stop_);
}

void rank_job::end() {
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::done;
    if (!leads()) messages_.send(0, message_kind::done, "");
  }
  if (!leads()) {
    await([this] { return all_done_ || may_end_; });
    return;
  }
  await([this] { return all_at(phase::done) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  if (std::ranges::all_of(peers_, [](const peer& of) { return of.at == phase::done; })) {
    measure_clocks();
  }
  send_all(message_kind::all_done, "");
}

std::optional<ranks_record> rank_job::gather(const run_record& record) {
  std::string_view kind = "record";
  if (record.failure) {
    kind = "failed";
  } else if (record.interrupted && interrupted_.raised()) {
    kind = "interrupted";  // and not told to end by another rank
  }
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::done;
    if (leads()) {
      own().run = record;
      take_result(own(), fmt::format("{} ", kind));
    }
  }
  if (leads()) return gather_others();
  // Made without the lock, so that the other thread can answer meanwhile.
  const auto text = fmt::format("{} {}", kind, text_.write(record));
  const std::scoped_lock lock(mutex_);
  own().at = phase::ended;
  messages_.send(0, message_kind::result, text);
  return std::nullopt;
}

std::optional<ranks_record> rank_job::give_up(const std::string& why) {
  if (!leads()) {
    fail(why);
    return std::nullopt;
  }
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::ended;
    own().lost = why;
    stop_all(fmt::format("{}: {}", name_of(own()), why));
  }
  auto all = gather_others();
  const bool any = std::ranges::any_of(all->ranks, [](const auto& r) { return r.run.has_value(); });
  return any ? std::move(all) : std::nullopt;
}

std::optional<ranks_record> rank_job::gather_others() {
  {
    const std::scoped_lock lock(mutex_);
    send_all(message_kind::all_done, "");  // they may wait for it
  }
  await([this] { return all_at(phase::ended) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  return merge();
}

void rank_job::begin_work() {
  const std::scoped_lock lock(mutex_);
  own().at = phase::ready;
  works_ = true;
  warmed_up_ = true;
  for (peer& each : peers_) each.working_since = now();
  if (!leads()) messages_.send(0, message_kind::ready, "");
}

void rank_job::end_work() {
  {
    const std::scoped_lock lock(mutex_);
    own().at = std::max(own().at, phase::done);
    if (!leads()) {
      messages_.send(0, message_kind::done, "");
      return;
    }
    halt();
  }
  // Those that a stage blocks send a result; those that are lost have ended.
  await([this] { return all_at(phase::done) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  if (!all_at(phase::done)) must_abort_ = true;
}

void rank_job::assign(int rank, std::string_view work) {
  const std::scoped_lock lock(mutex_);
  messages_.send(rank, message_kind::work, work);
}

std::optional<std::string> rank_job::next_work() {
  await([this] { return !inbox_.empty() || stopped_ || may_end_; });
  const std::scoped_lock lock(mutex_);
  if (stopped_ || may_end_) return std::nullopt;
  return take_first()->text;
}

void rank_job::send_answer(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  messages_.send(0, message_kind::answer, text);
}

void rank_job::fail(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  own().at = phase::ended;
  messages_.send(0, message_kind::result, fmt::format("error {}", why));
}

std::optional<rank_message> rank_job::next_answer() {
  await([this] { return !inbox_.empty() || stopped_; });
  const std::scoped_lock lock(mutex_);
  return take_first();
}

std::optional<rank_message> rank_job::take_first() {
  if (inbox_.empty()) return std::nullopt;
  rank_message first = std::move(inbox_.front());
  inbox_.pop_front();
  return first;
}

std::optional<std::string> rank_job::failure() {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

std::string rank_job::host() {
  const std::scoped_lock lock(mutex_);
  return own().host;
}

exit_status rank_job::finish(exit_status of_rank_0) {
  if (!leads()) {
    await([this] { return may_end_; });
    return exit_status::done;
  }
  const std::scoped_lock lock(mutex_);
  // MPI would never stop waiting for such a rank.
  if (must_abort_) messages_.abort(static_cast<int>(of_rank_0));
  send_all(message_kind::end, "");
  return of_rank_0;
}

/// Finishes the run in place of the thread that a stage blocks. Returns at once if no frame is
/// complete yet and the stage may still return.
void rank_job::stand_in() {
  const auto record = abandon_();
  // Rank 0 must report. The work of others is not kept anyway.
  const nanoseconds grace = works_ && !leads() ? 0 : longest_stage;
  if (!record && now() - *stopped_ < grace) return;
  const std::string why = "a stage did not return, and no frame was complete";
  if (leads()) {
    must_abort_ = true;
    std::optional<ranks_record> all;
    if (record) {
      all = gather(*record);
    } else if (!works_) {
      all = give_up(why);
    }
    report_(all ? &*all : nullptr, failure_.value_or(why));
    messages_.abort(static_cast<int>(exit_status::run_failed));
  }
  const auto text = "stuck " + (record ? text_.write(*record) : "");
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::ended;
    messages_.send(0, message_kind::result, text);
  }
  await([] { return false; });  // until rank 0 ends this process
}

// ---- Clocks -------------------------------------------------------------------------------------

/// Measures the clocks of all ranks. Returns false if one does not answer.
bool rank_job::measure_clocks() {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    std::vector<round_trip> trips;
    while (trips.size() < least_trips ||
           (trips.size() < most_trips && offset_of(trips).error > quick_enough)) {
      trip_ = round_trip{.sent = now()};
      messages_.send(static_cast<int>(r), message_kind::clock, "");
      while (trip_->answered == 0) {
        if (const auto message = messages_.receive()) {
          handle(*message);
        } else if (now() - trip_->sent > longest_silence) {
          lose(peers_[r], "it did not answer when its clock was measured");
          return false;
        } else {
          ::sched_yield();
        }
      }
      trips.push_back(*trip_);
    }
    trip_.reset();
    peers_[r].clock.push_back(offset_of(trips));
  }
  return true;
}

ranks_record rank_job::merge() {
  ranks_record made;
  made.library = messages_.library();
  made.failure = failure_;
  made.interrupted = (interrupted_.raised() || interrupted_elsewhere_) && !failure_;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    peer& of = peers_[r];
    rank_record& to = made.ranks.emplace_back();
    to.rank = static_cast<std::int64_t>(r);
    to.host = of.host;
    to.local_rank = of.local_rank;
    to.clock = of.clock;
    if (!of.result.empty()) {
      try {
        of.run = text_.read(of.result);
      } catch (const std::exception& e) {
        of.lost = fmt::format("its record cannot be read: {}", reason_of(e));
      }
    }
    if (!of.run && of.lost.empty()) {
      of.lost = "it did not answer when the run was told to end, and may have been killed" +
                last_seen(of);
      must_abort_ = true;
    }
    to.run = std::move(of.run);
    to.lost = of.lost;
    if (!of.lost.empty() && !made.failure) {
      made.failure = fmt::format("{}: {}", name_of(of), of.lost);
      made.interrupted = false;
    }
  }
  return made;
}

}  // namespace graphline
