#include "framework/campaign/ranks/rank_run.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "framework/base/stage_activity.hpp"

namespace graphline {
namespace {

constexpr nanoseconds millisecond = 1'000'000;
constexpr nanoseconds wake_up_period = 200 * millisecond;
constexpr nanoseconds progress_period = 400 * millisecond;
constexpr nanoseconds until_start = 20 * millisecond;
// The quickest round trip counts, so more are made until one is quick.
constexpr std::size_t least_trips = 50;
constexpr std::size_t most_trips = 1000;
constexpr nanoseconds quick_enough = 2'000;  ///< error of the offset
/// How long other ranks may take to end. After an interrupt, mpirun kills all ranks a second later.
constexpr nanoseconds patience = 2500 * millisecond;
constexpr nanoseconds patience_if_interrupted = 400 * millisecond;
/// When another thread takes over from a run that does not end.
constexpr nanoseconds until_stuck = 1500 * millisecond;

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
  peer& own = peers_[static_cast<std::size_t>(messages.rank())];
  own.host = machine_name();
  own.local_rank = messages.local_rank();
  own.at = phase::preparing;
  for (peer& each : peers_) each.heard = now();
  if (!leads()) {
    messages_.send(0, message_kind::hello, fmt::format("{} {}", own.local_rank, own.host));
  }
  try {
    thread_ = std::thread([this] { answer(); });
  } catch (const std::system_error& e) {
    throw run_error(fmt::format("a thread could not be started: {}", e.what()));
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

void rank_run::answer() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::nanoseconds(wake_up_period),
                           [this] { return end_thread_; })) {
    pump();
    const bool stuck = stopped_ && now() - *stopped_ > until_stuck && !run_is_over_ && abandon_;
    if (!stuck) continue;
    lock.unlock();
    stand_in();
    lock.lock();
  }
}

void rank_run::pump() {
  if (stop_.raised() && !stopped_) stopped_ = now();
  while (auto message = messages_.receive()) {
    active_ = now();
    handle(*message);
  }
  peer& own = peers_[static_cast<std::size_t>(messages_.rank())];
  if (now() - told_ < progress_period) return;
  told_ = now();
  const auto work = current_work();
  update(own, work);
  if (!leads()) {
    if (own.at == phase::ended) return;
    messages_.send(0, message_kind::progress, fmt::format("{} {}", own.frames_done, work));
    return;
  }
  own.heard = now();
  judge_silence();
  judge_stages();
}

void rank_run::handle(const rank_message& message) {
  std::string_view text = message.text;
  peer& from = peers_[static_cast<std::size_t>(message.from)];
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
      from.frames_done = take_number(text);
      update(from, std::string(text));
      return;
    case message_kind::done:
      from.at = phase::done;
      return;
    case message_kind::result:
      take_result(from, message.text);
      return;
    case message_kind::clock:
      if (leads()) {
        if (trip_) {
          trip_->arrived = take_number(text);
          trip_->returned = take_number(text);
        }
      } else {
        messages_.send(0, message_kind::clock, fmt::format("{} {}", active_, now()));
      }
      return;
    case message_kind::go:
      let_go_ = static_cast<exit_status>(take_number(text));
      return;
    case message_kind::begin:
      starts_ = take_number(text);
      return;
    case message_kind::stop:
      stop_.raise();
      if (!stopped_) stopped_ = now();
      return;
    case message_kind::all_done:
      all_done_ = true;
      return;
    case message_kind::end:
      may_end_ = true;
      return;
  }
}

/// A result begins with "record", "failed" or "interrupted" before a record, or "error" before a
/// message.
void rank_run::take_result(peer& of, const std::string& text) {
  const auto end = text.find(' ');
  const auto rank = static_cast<std::size_t>(&of - peers_.data());
  const std::string kind = text.substr(0, end);
  of.at = phase::ended;
  if (kind == "error") {
    of.lost = text.substr(end + 1);
    stop_all(fmt::format("{}: {}", name_of(rank), of.lost));
    return;
  }
  of.result = text.substr(end + 1);
  if (kind == "failed" || kind == "interrupted") {
    stop_all(fmt::format("{} {}", name_of(rank), kind == "failed" ? "failed" : "was interrupted"));
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
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    peer& of = peers_[r];
    if (of.at == phase::ended || now() - of.heard < longest_silence) continue;
    lose(of, fmt::format("it has not answered for {} s", (now() - of.heard) / 1'000'000'000));
  }
}

void rank_run::judge_stages() {
  if (!measuring_ || stopped_) return;
  const nanoseconds limit = warmed_up_ ? std::max(longest_stage, 5 * longest_work_) : longest_first;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const peer& of = peers_[r];
    if (of.at >= phase::done || of.working_on.empty() || now() - of.working_since < limit) continue;
    stop_all(fmt::format("{}: {} has not returned for {} s", name_of(r), of.working_on,
                         (now() - of.working_since) / 1'000'000'000));
    return;
  }
}

void rank_run::lose(peer& of, const std::string& why) {
  of.lost = why + last_seen(of);
  of.at = phase::ended;
  stop_all(fmt::format("{}: {}", name_of(static_cast<std::size_t>(&of - peers_.data())), of.lost));
}

void rank_run::stop_all(const std::string& why) {
  if (!failure_ && !interrupted_.raised()) failure_ = why;
  stop_.raise();
  if (!stopped_) stopped_ = now();
  send_all(message_kind::stop, "");
}

void rank_run::send_all(message_kind kind, const std::string& text) {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    const bool may_answer = kind == message_kind::end || peers_[r].at != phase::ended;
    if (peers_[r].lost.empty() && may_answer) messages_.send(static_cast<int>(r), kind, text);
  }
}

bool rank_run::all_at(phase least) const {
  return std::ranges::all_of(peers_, [&](const peer& of) { return of.at >= least; });
}

bool rank_run::out_of_patience() const {
  return stopped_ &&
         now() - *stopped_ > (interrupted_.raised() ? patience_if_interrupted : patience);
}

/// Handles messages until the condition holds.
template <class Condition>
void rank_run::await(const Condition& met) {
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      pump();
      if (met()) return;
    }
    // Spins while messages follow each other, for short round trips.
    if (now() - active_ < 2 * millisecond) {
      ::sched_yield();
    } else {
      ::usleep(200);
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
      messages_.send(0, message_kind::prepared,
                     fmt::format("{} {}", static_cast<int>(status), problem));
    }
    await([this] { return let_go_ || out_of_patience(); });
    const exit_status told = let_go_.value_or(exit_status::interrupted);
    if (told != exit_status::done) throw rank_refused(told);
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    peers_[0].at = phase::prepared;
    peers_[0].status = status;
    peers_[0].problem = problem;
  }
  await([this] { return all_at(phase::prepared) || failure_ || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  for (peer& of : peers_) {
    if (of.at < phase::prepared) of.lost = "it was not ready when the run was told to end";
  }
  std::vector<std::string> problems;
  bool shared = true;  // by all ranks
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const peer& of = peers_[r];
    const std::string& why = of.lost.empty() ? of.problem : of.lost;
    if (of.status == exit_status::done && of.lost.empty()) {
      shared = false;
      continue;
    }
    if (status == exit_status::done) {
      status = of.lost.empty() ? of.status : exit_status::run_failed;
    }
    shared = shared && why == peers_[0].problem;
    problems.push_back(fmt::format("{}: {}", name_of(r), why));
  }
  send_all(message_kind::go, fmt::to_string(static_cast<int>(status)));
  if (problems.empty()) return;
  if (shared) throw error(status, peers_[0].problem);
  std::string text = problems.front();
  for (std::size_t i = 1; i < problems.size(); ++i) text += "\n" + problems[i];
  throw error(status, text);
}

void rank_run::if_stuck(std::function<std::optional<run_record>()> abandon,
                        std::function<void(ranks_record)> report) {
  const std::scoped_lock lock(mutex_);
  abandon_ = std::move(abandon);
  report_ = std::move(report);
}

void rank_run::note_progress(bool warmup, std::int64_t frames_done) {
  const std::scoped_lock lock(mutex_);
  if (warmup) {
    warmed_up_ = warmed_up_ || frames_done > 0;
  } else {
    peers_[static_cast<std::size_t>(messages_.rank())].frames_done = frames_done;
  }
}

void rank_run::begin() {
  if (!leads()) {
    {
      const std::scoped_lock lock(mutex_);
      messages_.send(0, message_kind::ready, "");
    }
    await([this] { return starts_ || stopped_; });
  } else {
    {
      const std::scoped_lock lock(mutex_);
      peers_[0].at = phase::ready;
    }
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
    measuring_ = true;
    for (peer& each : peers_) each.working_since = now();
  }
  wait_until(*starts_, stop_);
}

void rank_run::end() {
  if (!leads()) {
    {
      const std::scoped_lock lock(mutex_);
      run_is_over_ = true;
      messages_.send(0, message_kind::done, "");
    }
    await([this] { return all_done_ || may_end_ || out_of_patience(); });
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    run_is_over_ = true;
    peers_[0].at = phase::done;
  }
  await([this] { return all_at(phase::done) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  measuring_ = false;
  if (std::ranges::none_of(peers_, [](const peer& of) { return of.at == phase::ended; }) &&
      all_at(phase::done)) {
    measure_clocks();
  }
  send_all(message_kind::all_done, "");
}

std::optional<ranks_record> rank_run::gather(const run_record& own) {
  {
    const std::scoped_lock lock(mutex_);
    run_is_over_ = true;
    measuring_ = false;
    // A run that was told to end is not the cause.
    const bool by_itself = own.interrupted && interrupted_.raised();
    const auto text = fmt::format("{} {}",
                                  own.failure ? "failed"
                                  : by_itself ? "interrupted"
                                              : "record",
                                  text_.write(own));
    if (!leads()) {
      messages_.send(0, message_kind::result, text);
      peers_[static_cast<std::size_t>(messages_.rank())].at = phase::ended;
      return std::nullopt;
    }
    take_result(peers_[0], text);
  }
  await([this] { return all_at(phase::ended) || out_of_patience(); });
  const std::scoped_lock lock(mutex_);
  return merge();
}

bool rank_run::give_up(const error& why) {
  const std::scoped_lock lock(mutex_);
  run_is_over_ = true;
  if (leads()) {
    stop_all(why.what());
    return false;
  }
  messages_.send(0, message_kind::result, fmt::format("error {}", why.what()));
  peers_[static_cast<std::size_t>(messages_.rank())].at = phase::ended;
  return true;
}

exit_status rank_run::finish(exit_status of_rank_0) {
  if (!leads()) {
    await([this] { return may_end_; });
    return exit_status::done;
  }
  const std::scoped_lock lock(mutex_);
  // MPI would wait for a lost rank for ever.
  const bool whole = std::ranges::all_of(peers_, [](const peer& of) { return of.lost.empty(); });
  if (!whole) messages_.abort(static_cast<int>(of_rank_0));
  send_all(message_kind::end, "");
  return of_rank_0;
}

/// Does the rest of the run in place of its own thread, which a stage does not return to.
void rank_run::stand_in() {
  auto record = abandon_();
  if (!leads()) {
    if (record) {
      gather(*record);
    } else {
      give_up(run_error("a stage did not return, and no frame was complete"));
    }
    std::_Exit(static_cast<int>(finish(exit_status::run_failed)));
  }
  if (record) {
    report_(*gather(*record));
  } else {
    give_up(run_error("a stage did not return"));
  }
  messages_.abort(static_cast<int>(exit_status::run_failed));
}

// ---- Clocks -------------------------------------------------------------------------------------

/// Measures the clocks of all ranks. Returns false if one does not answer.
bool rank_run::measure_clocks() {
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    std::vector<round_trip> trips;
    while (trips.size() < least_trips ||
           (trips.size() < most_trips && offset_of(trips).error > quick_enough)) {
      trip_ = round_trip{.sent = now()};
      messages_.send(static_cast<int>(r), message_kind::clock, "");
      while (trip_->returned == 0) {
        if (const auto message = messages_.receive()) {
          if (message->kind == message_kind::clock) trip_->answered = now();
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
  made.interrupted = interrupted_.raised() && !failure_;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    peer& of = peers_[r];
    rank_record& to = made.ranks.emplace_back();
    to.rank = static_cast<std::int64_t>(r);
    to.host = of.host;
    to.local_rank = of.local_rank;
    to.clock = of.clock;
    if (!of.result.empty()) {
      to.run = text_.read(of.result);
    } else if (of.lost.empty()) {
      of.lost = "it did not end in time" + last_seen(of);
    }
    to.lost = of.lost;
  }
  return made;
}

}  // namespace graphline
