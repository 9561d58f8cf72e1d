#include "framework/campaign/ranks/rank_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "framework/base/stage_activity.hpp"
#include "framework/base/thread_number.hpp"

namespace graphline {
namespace {

constexpr nanoseconds millisecond = 1'000'000;
constexpr nanoseconds second = 1'000'000'000;
constexpr nanoseconds wake_up_period = 200 * millisecond;
constexpr nanoseconds progress_period = 400 * millisecond;
constexpr nanoseconds until_start = 20 * millisecond;
// The quickest round trip counts, so more are made until one is quick.
constexpr std::size_t least_trips = 50;
constexpr std::size_t most_trips = 1000;
constexpr nanoseconds quick_enough = 2'000;  ///< error of the offset
/// When another thread takes over from a run that does not end.
constexpr nanoseconds until_stuck = 1500 * millisecond;

/// Returns how long rank 0 waits for the records of others after an interrupt: less than half the
/// time after which mpirun kills all ranks, a second by default.
nanoseconds patience() {
  const char* const set = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
  return std::max(1, set == nullptr ? 1 : std::atoi(set)) * 400 * millisecond;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// Returns the whole number at the begin of a text, and removes it with the space behind it.
nanoseconds take_number(std::string_view& text) {
  nanoseconds number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return number;
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

/// Returns the stage and frame that the process works on; empty if none.
std::string current_work() {
  std::string text;
  thread_activity::each([&](const stage_point& at) {
    if (text.empty()) text = to_string(at);
  });
  return text;
}

}  // namespace

rank_run::rank_run(communicator& messages, record_text text, const stop_request& interrupted)
    : messages_(messages),
      text_(std::move(text)),
      interrupted_(interrupted),
      stop_(&interrupted),
      peers_(static_cast<std::size_t>(messages.size())) {
  own().host = machine_name();
  own().local_rank = messages.local_rank();
  own().at = phase::preparing;
  for (peer& each : peers_) each.heard = now();
  if (!leads()) {
    send(0, message_kind::hello, fmt::format("{} {}", own().local_rank, own().host));
  }
  try {
    thread_ = std::thread([this] { answer(); });
  } catch (const std::system_error& e) {
    throw thread_start_error("the thread that answers other ranks could not be started", e);
  }
}

rank_run::~rank_run() {
  {
    const std::scoped_lock lock(mutex_);
    end_thread_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

// ---- Messages -----------------------------------------------------------------------------------

void rank_run::answer() noexcept {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::nanoseconds(wake_up_period),
                           [this] { return end_thread_; })) {
    if (problem_) continue;
    try {
      pump();
      const bool stuck = stopped_ && now() - *stopped_ > until_stuck && !run_is_over_ && abandon_;
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

void rank_run::pump() {
  if (stop_.raised() && !stopped_) halt();
  while (const auto message = messages_.receive()) handle(*message);
  if (now() - told_ < progress_period) return;
  told_ = now();
  const auto work = current_work();
  update(own(), work);
  own().heard = now();
  judge_silence();
  if (!leads()) {
    if (own().at == phase::ended) return;
    send(0, message_kind::progress, fmt::format("{} {}", own().frames_done, work));
    return;
  }
  send_all(message_kind::progress, "");
  judge_stages();
}

void rank_run::handle(const rank_message& message) {
  std::string_view text = message.text;
  peer& from = peers_[static_cast<std::size_t>(message.from)];
  if (!from.lost.empty()) return;
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
      from.at = phase::done;
      return;
    case message_kind::result:
      take_result(from, text);
      return;
    case message_kind::clock:
      if (!leads()) {
        clock_arrived_ = from.heard;
        send(0, message_kind::clock, fmt::format("{} {}", from.heard, now()));
      } else if (trip_) {
        trip_->arrived = take_number(text);
        trip_->returned = take_number(text);
        trip_->answered = from.heard;
      }
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

/// A result begins with "record", "failed", "interrupted" or "stuck" before a record, or "error"
/// before a message.
void rank_run::take_result(peer& of, std::string_view text) {
  const auto name = name_of(static_cast<std::size_t>(&of - peers_.data()));
  const auto end = text.find(' ');
  const auto kind = text.substr(0, end);
  text.remove_prefix(end + 1);
  of.at = phase::ended;
  if (kind == "error") {
    of.lost = text;
    stop_all(fmt::format("{}: {}", name, of.lost));
    return;
  }
  of.result = text;
  if (kind == "stuck") must_abort_ = true;
  if (kind == "failed") stop_all(fmt::format("{} failed", name));
  if (kind == "interrupted") {
    interrupted_elsewhere_ = true;
    halt();
  }
}

void rank_run::update(peer& of, const std::string& working_on) {
  if (of.working_on == working_on && !working_on.empty()) {
    // The limit of a stage follows from its times before, so its present time must not count.
    if (!measuring_) longest_work_ = std::max(longest_work_, now() - of.working_since);
    return;
  }
  if (!of.working_on.empty()) {
    longest_work_ = std::max(longest_work_, now() - of.working_since);
  }
  of.working_on = working_on;
  of.working_since = now();
}

std::string rank_run::last_seen(const peer& of) {
  std::string text;
  if (of.frames_done > 0) text = fmt::format("; it had done at least {} frames", of.frames_done);
  if (!of.working_on.empty()) text += fmt::format("; it was last seen in {}", of.working_on);
  return text;
}

void rank_run::judge_silence() {
  if (!leads()) {
    // Without rank 0 there is nobody to end the run. After its last message it may take its time.
    if (may_end_ || now() - peers_[0].heard < longest_silence) return;
    fmt::print(stderr, "error: {}: rank 0 has sent no message for {} s\n",
               name_of(static_cast<std::size_t>(messages_.rank())), longest_silence / second);
    messages_.abort(static_cast<int>(exit_status::run_failed));
  }
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    peer& of = peers_[r];
    if (of.at == phase::ended || messages_.receives_from(static_cast<int>(r))) continue;
    if (now() - of.heard < longest_silence) continue;
    lose(of, fmt::format("it has sent no message for {} s", (now() - of.heard) / second));
  }
}

void rank_run::judge_stages() {
  if (!judges_stages_ || stopped_) return;
  const nanoseconds limit =
      measuring_ && warmed_up_ ? std::max(longest_stage, 5 * longest_work_) : longest_first;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const peer& of = peers_[r];
    if (of.at >= phase::done || of.working_on.empty() || now() - of.working_since < limit) continue;
    stop_all(fmt::format("{}: {} has not returned for {} s", name_of(r), of.working_on,
                         (now() - of.working_since) / second));
    return;
  }
}

void rank_run::lose(peer& of, const std::string& why) {
  of.lost = why + last_seen(of);
  of.at = phase::ended;
  must_abort_ = true;
  stop_all(fmt::format("{}: {}", name_of(static_cast<std::size_t>(&of - peers_.data())), of.lost));
}

/// Ends the own run and, on rank 0, those of all ranks.
void rank_run::halt() {
  stop_.raise();
  if (stopped_) return;
  stopped_ = now();
  if (leads()) send_all(message_kind::stop, "");
}

void rank_run::stop_all(const std::string& why) {
  if (!failure_ && !interrupted_.raised()) failure_ = why;
  halt();
}

void rank_run::send(int to, message_kind kind, const std::string& text) {
  messages_.send(to, kind, text);
}

void rank_run::send_all(message_kind kind, const std::string& text) {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    const bool may_answer = kind == message_kind::end || peers_[r].at != phase::ended;
    if (peers_[r].lost.empty() && may_answer) send(static_cast<int>(r), kind, text);
  }
}

bool rank_run::all_at(phase least) const {
  return std::ranges::all_of(peers_, [&](const peer& of) { return of.at >= least; });
}

/// Returns true if mpirun will soon kill the rank. Otherwise, others are waited for as long as they
/// send messages.
bool rank_run::out_of_patience() const {
  return stopped_ && interrupted_.raised() && now() - *stopped_ > patience();
}

/// Handles messages until the condition holds.
template <class Condition>
void rank_run::await(const Condition& met) {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      if (problem_) std::rethrow_exception(problem_);
      pump();
      if (met()) return;
    }
    // Spins while the clock is measured, for short round trips; others may still measure frames.
    if (now() - clock_arrived_ < 2 * millisecond) {
      ::sched_yield();
    } else {
      ::usleep(1000);
    }
  }
}

std::string rank_run::name_of(std::size_t rank) const {
  return rank_name(static_cast<std::int64_t>(rank), peers_[rank].host);
}

// ---- The run ------------------------------------------------------------------------------------

void rank_run::prepare(const std::function<void()>& step) {
  std::string problem;
  auto status = exit_status::done;
  try {
    step();
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
      send(0, message_kind::prepared, fmt::format("{} {}", static_cast<int>(status), problem));
    }
    await([this] { return let_go_.has_value(); });
    if (*let_go_ != exit_status::done) throw rank_refused(*let_go_);
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
    if (of.at < phase::prepared) of.lost = "preparation was not complete when the run stopped";
  }
  std::vector<std::string> problems;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const peer& of = peers_[r];
    if (of.status == exit_status::done && of.lost.empty()) continue;
    if (status == exit_status::done) status = of.lost.empty() ? of.status : exit_status::run_failed;
    problems.push_back(fmt::format("{}: {}", name_of(r), of.lost.empty() ? of.problem : of.lost));
  }
  if (interrupted_.raised() && !problems.empty()) status = exit_status::interrupted;
  send_all(message_kind::go, fmt::to_string(static_cast<int>(status)));
  judges_stages_ = true;
  if (problems.empty()) return;
  const bool shared = std::ranges::all_of(
      peers_, [&](const peer& of) { return of.lost.empty() && of.problem == problem; });
  throw error(status, shared ? problem : fmt::format("{}", fmt::join(problems, "\n")));
}

void rank_run::if_stuck(std::function<std::optional<run_record>()> abandon,
                        std::function<void(const ranks_record&)> report) {
  const std::scoped_lock lock(mutex_);
  abandon_ = std::move(abandon);
  report_ = std::move(report);
}

void rank_run::note_progress(bool warmup, std::int64_t frames_done) {
  const std::scoped_lock lock(mutex_);
  if (warmup) {
    warmed_up_ = warmed_up_ || frames_done > 0;
  } else {
    own().frames_done = frames_done;
  }
}

void rank_run::begin() {
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::ready;
    if (!leads()) send(0, message_kind::ready, "");
  }
  if (!leads()) {
    await([this] { return starts_ || stopped_; });
  } else {
    await([this] { return all_at(phase::ready) || stopped_; });
    const std::scoped_lock lock(mutex_);
    if (stopped_ || !measure_clocks()) return;
    starts_ = now() + until_start;
    for (std::size_t r = 1; r < peers_.size(); ++r) {
      send(static_cast<int>(r), message_kind::begin,
           fmt::to_string(*starts_ + peers_[r].clock.back().offset));
    }
  }
  if (!starts_) return;
  {
    const std::scoped_lock lock(mutex_);
    measuring_ = true;
    for (peer& each : peers_) each.working_since = now();
  }
  wait_until(*starts_, stop_);
}

void rank_run::end() {
  {
    const std::scoped_lock lock(mutex_);
    run_is_over_ = true;
    own().at = phase::done;
    if (!leads()) send(0, message_kind::done, "");
  }
  if (!leads()) {
    await([this] { return all_done_ || may_end_; });
    return;
  }
  await([this] { return all_at(phase::done) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  measuring_ = false;
  if (std::ranges::all_of(peers_, [](const peer& of) { return of.at == phase::done; })) {
    measure_clocks();
  }
  send_all(message_kind::all_done, "");
}

std::optional<ranks_record> rank_run::gather(const run_record& record) {
  std::string_view kind = "record";
  if (record.failure) {
    kind = "failed";
  } else if (record.interrupted && interrupted_.raised()) {
    kind = "interrupted";  // and not told to end by another rank
  }
  if (leads()) {
    {
      const std::scoped_lock lock(mutex_);
      own().run = record;
      take_result(own(), fmt::format("{} ", kind));
    }
    return gather_others();
  }
  // Made without the lock, so that the other thread can answer meanwhile.
  const auto text = fmt::format("{} {}", kind, text_.write(record));
  const std::scoped_lock lock(mutex_);
  run_is_over_ = true;
  own().at = phase::ended;
  send(0, message_kind::result, text);
  return std::nullopt;
}

std::optional<ranks_record> rank_run::give_up(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    run_is_over_ = true;
    own().at = phase::ended;
    if (!leads()) {
      send(0, message_kind::result, fmt::format("error {}", why));
      return std::nullopt;
    }
    own().lost = why;
    stop_all(fmt::format("{}: {}", name_of(0), why));
  }
  auto all = gather_others();
  const bool any = std::ranges::any_of(all->ranks, [](const auto& r) { return r.run.has_value(); });
  return any ? std::move(all) : std::nullopt;
}

std::optional<ranks_record> rank_run::gather_others() {
  {
    const std::scoped_lock lock(mutex_);
    run_is_over_ = true;
    measuring_ = judges_stages_ = false;
    send_all(message_kind::all_done, "");  // they may wait for it
  }
  await([this] { return all_at(phase::ended) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  return merge();
}

exit_status rank_run::finish(exit_status of_rank_0) {
  if (!leads()) {
    await([this] { return may_end_; });
    return exit_status::done;
  }
  const std::scoped_lock lock(mutex_);
  // MPI would wait for a lost rank for ever.
  if (must_abort_) messages_.abort(static_cast<int>(of_rank_0));
  send_all(message_kind::end, "");
  return of_rank_0;
}

/// Does the rest of the run in place of its own thread, which a stage does not return to. Returns
/// if there is nothing to take over yet.
void rank_run::stand_in() {
  const auto record = abandon_();
  if (!record && now() - *stopped_ < longest_stage) return;
  std::optional<ranks_record> all;
  if (leads()) {
    must_abort_ = true;
    if (record) {
      all = gather(*record);
    } else {
      all = give_up("a stage did not return, and no frame was complete");
    }
    if (all) report_(*all);
    if (!all) fmt::print(stderr, "error: {}\n", failure_.value_or("a stage did not return"));
    messages_.abort(static_cast<int>(exit_status::run_failed));
  }
  const auto text = record ? "stuck " + text_.write(*record)
                           : "error a stage did not return, and no frame was complete";
  {
    const std::scoped_lock lock(mutex_);
    own().at = phase::ended;
    send(0, message_kind::result, text);
  }
  await([] { return false; });  // until rank 0 ends this process
}

// ---- Clocks -------------------------------------------------------------------------------------

/// Measures the clocks of all ranks. Returns false if one does not answer.
bool rank_run::measure_clocks() {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    std::vector<round_trip> trips;
    while (trips.size() < least_trips ||
           (trips.size() < most_trips && offset_of(trips).error > quick_enough)) {
      trip_ = round_trip{.sent = now()};
      send(static_cast<int>(r), message_kind::clock, "");
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

ranks_record rank_run::merge() {
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
      of.lost = "it did not end in time" + last_seen(of);
      must_abort_ = true;
    }
    to.run = std::move(of.run);
    to.lost = of.lost;
  }
  return made;
}

}  // namespace graphline
