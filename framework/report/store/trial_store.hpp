#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// A descriptor that closes itself, and with it gives back the lock on its file.
struct owned_descriptor {
  explicit owned_descriptor(int opened) : number(opened) {}
  ~owned_descriptor();
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  const int number;
};

/// Whether a file of this text is a trial store, of whatever version.
bool begins_trial_store(std::string_view text);

/// How a trial store that exists already is dealt with.
enum class store_opening {
  fresh,      ///< what is there moves to NAME.previous; refused where it has not ended
  resume,     ///< goes on with it; refused when it belongs to another experiment or a file changed
  overwrite,  ///< likewise, whether it has ended or not
};

/// The raw samples of an experiment's trials in a file of JSON lines, `graphline.trials/1`: a line
/// that says what the experiment is, one per trial as it ends, one when it has ended. What was
/// added outlives the process; when the experiment has ended, it is on the disk. A line that a
/// killed process left half-written is passed over. Two processes cannot write one store. No mode
/// touches a file that is no trial store.
class trial_store {
 public:
  /// Throws an `input_error` that names the file and the remedy when it is refused or cannot be
  /// written.
  trial_store(const std::string& path, const experiment_plan& planned, store_opening how);
  ~trial_store();
  trial_store(const trial_store&) = delete;
  trial_store& operator=(const trial_store&) = delete;

  /// The trials that the file held when it was opened; empty but for `resume`.
  std::vector<trial_record> take_trials();

  /// Throws `run_error` when it cannot be written, or ran on another device than those before; what
  /// was there before stays readable.
  void add(const trial_record& trial);

  /// Marks the experiment as ended, and says why it ended early where it did.
  void end(std::string_view why = {});

 private:
  void begin(const experiment_plan& planned);
  void go_on(const experiment_plan& planned);
  /// Puts a line after the last trial, in place of what follows it there. Returns its length.
  std::uint64_t append(const std::string& line);
  bool cut() noexcept;
  [[noreturn]] void fail(int code);

  std::string path_;
  owned_descriptor file_;
  std::vector<trial_record> trials_;
  std::optional<std::string> device_;  ///< that the trials ran on
  std::int64_t count_ = 0;
  std::uint64_t bytes_ = 0;  ///< up to the end of the last trial
  bool followed_ = false;    ///< there is something after the last trial
  bool ended_ = false;
};

}  // namespace graphline
