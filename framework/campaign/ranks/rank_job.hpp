#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/ranks/clock_offset.hpp"
#include "framework/ranks/communicator.hpp"
#include "framework/record/ranks_record.hpp"

namespace graphline {

/// How a record travels between ranks.
struct record_text {
  std::function<std::string(const run_record&)> write;
  std::function<run_record(const std::string&)> read;
};

/// Thrown on a rank other than 0 if another rank could not be prepared. Rank 0 reports why.
class rank_refused : public error {
 public:
  explicit rank_refused(exit_status status) : error(status, "another rank could not run") {}
};

/// One rank's side of a job on several ranks, which end together if one fails, is lost or is
/// interrupted. A job either runs one pipeline on all ranks (`begin`, `end`, `gather`), or rank 0
/// has the others do work of one kind (`begin_work` to `end_work`). Call `prepare` first and
/// `finish` last, and the functions between them in the order in which they are declared.
///
/// A thread of this object answers other ranks while the rank's own thread is busy. It wakes up
/// five times a second.
class rank_job {
 public:
  /// A rank is lost if it has sent no message for this long.
  static constexpr nanoseconds longest_silence = 5'000'000'000;
  /// A stage hangs if it has not returned for this long, and for five times the longest time that a
  /// stage has taken before on any rank. During the warm-up, and without one, for `longest_first`.
  static constexpr nanoseconds longest_stage = 6'000'000'000;
  static constexpr nanoseconds longest_first = 60'000'000'000;

  /// @param interrupted Raised by an interrupt of this process.
  rank_job(communicator& messages, record_text text, const stop_request& interrupted);
  ~rank_job();
  rank_job(const rank_job&) = delete;
  rank_job& operator=(const rank_job&) = delete;

  /// Runs a step that may throw on any rank. It returns a text that must be the same on all ranks:
  /// what they run.
  /// @throws error on rank 0 with the errors of all ranks, and `rank_refused` on the others, if it
  /// threw on one or the texts differ
  void prepare(const std::function<std::string()>& step);

  /// If a stage does not return, `abandon` returns what was measured, and `report`, on rank 0,
  /// reports it and why the job ends. The record is null if nothing was measured. The program then
  /// ends.
  void if_stuck(std::function<std::optional<run_record>()> abandon,
                std::function<void(ranks_record*, const std::string& why)> report);

  /// Raised when the run must end: by an interrupt, or because of another rank.
  const stop_request& stop() const noexcept { return stop_; }

  void note_progress(bool warmup, std::int64_t frames_done);

  /// Call before the first measured frame. Returns on all ranks at the same time, to within the
  /// error of their clocks, or at once if the run must end.
  void begin();

  /// Call after the last measured frame. Returns when all ranks have done theirs.
  void end();

  /// Returns the records of all ranks; empty on other ranks than 0.
  std::optional<ranks_record> gather(const run_record& own);

  /// Call instead of `gather` if the run threw. Returns the records of the other ranks; empty on
  /// these, and if there are none.
  std::optional<ranks_record> give_up(const std::string& why);

  /// Call before and after the work of a job, on all ranks. On rank 0, `end_work` ends that of all.
  void begin_work();
  void end_work();

  /// Rank 0: has another rank do work, which `next_work` returns there.
  void assign(int rank, std::string_view work);

  /// Other ranks: waits for work; empty when there is no more.
  std::optional<std::string> next_work();

  /// Other ranks: sends rank 0 a result of work, which may have several.
  void send_answer(std::string_view text);

  /// Other ranks: ends the job for this reason. Rank 0 reports it.
  void fail(const std::string& why);

  /// Rank 0: waits for what other ranks have sent; empty if the job must end.
  std::optional<rank_message> next_answer();

  /// Returns why rank 0 stopped the job; empty if it did not, or after an interrupt.
  std::optional<std::string> failure();

  /// Returns the name of this machine.
  std::string host();

  /// Returns on all ranks once rank 0 has called it: the status of rank 0 there, and `done` on the
  /// others, because mpirun kills all ranks when one ends with another status. If a rank is lost or
  /// a stage blocks it, ends all ranks instead.
  exit_status finish(exit_status of_rank_0);

 private:
  enum class phase { joining, preparing, prepared, ready, done, ended };
  struct peer {
    std::string host;
    std::int64_t local_rank = 0;
    phase at = phase::joining;
    nanoseconds heard = 0;   ///< when its last message arrived
    std::string working_on;  ///< stage and frame; empty if between stages
    std::int64_t frames_done = 0;
    nanoseconds working_since = 0;
    std::string problem;  ///< why it could not be prepared; else what it runs
    exit_status status = exit_status::done;
    std::vector<clock_offset> clock;
    std::optional<run_record> run;
    std::string result;   ///< the run as a text, until `merge` reads it
    std::string lost;     ///< why it has no run
    bool silent = false;  ///< it is not expected to answer any more
  };

  bool leads() const noexcept { return messages_.rank() == 0; }
  peer& own() { return peers_[static_cast<std::size_t>(messages_.rank())]; }
  bool measuring() { return (starts_ || works_) && own().at == phase::ready; }
  bool all_at(phase least) const;
  void serve() noexcept;
  void pump();
  void handle(const rank_message& message);
  void take_result(peer& of, std::string_view text);
  void update(peer& of, const std::string& working_on);
  void judge_silence();
  void judge_stages();
  static std::string last_seen(const peer& of);
  void halt();
  void stop_all(const std::string& why);
  void send_all(message_kind kind, const std::string& text);
  void lose(peer& of, const std::string& why);
  bool out_of_patience() const;
  template <class Condition>
  void await(const Condition& met);
  bool measure_clocks();
  std::optional<ranks_record> gather_others();
  void stand_in();
  std::optional<rank_message> take_first();
  ranks_record merge();
  std::string name_of(const peer& of) const;

  communicator& messages_;
  record_text text_;
  const stop_request& interrupted_;
  stop_request stop_;

  std::mutex mutex_;         ///< protects all below, and `messages_`
  std::vector<peer> peers_;  ///< by rank; a rank other than 0 uses its own and that of rank 0
  std::function<std::optional<run_record>()> abandon_;
  std::function<void(ranks_record*, const std::string&)> report_;
  bool warmed_up_ = false;
  bool interrupted_elsewhere_ = false;  ///< another rank was interrupted
  bool must_abort_ = false;             ///< a rank is lost, or a stage blocks it
  std::optional<std::string> failure_;  ///< why rank 0 stopped all
  std::optional<nanoseconds> stopped_;  ///< when the run was told to end
  std::optional<nanoseconds> starts_;   ///< the common start, on the own clock
  std::optional<exit_status> let_go_;   ///< from rank 0: go on, or end
  bool all_done_ = false;               ///< from rank 0
  bool works_ = false;                  ///< between `begin_work` and the end
  std::deque<rank_message> inbox_;      ///< work, or its results
  bool may_end_ = false;                ///< from rank 0
  nanoseconds longest_work_ = 0;
  nanoseconds told_ = 0;           ///< when the last `progress` was sent
  nanoseconds clock_arrived_ = 0;  ///< when the last message about the clock arrived
  std::optional<round_trip> trip_;
  std::exception_ptr problem_;  ///< of the thread

  std::condition_variable ending_;
  bool end_thread_ = false;
  std::thread thread_;
};

}  // namespace graphline
