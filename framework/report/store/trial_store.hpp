#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// Owning file descriptor. Closing the descriptor releases the lock on its file.
struct owned_descriptor {
  explicit owned_descriptor(int opened) : number(opened) {}
  ~owned_descriptor();
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  const int number;
};

/// Returns true if `text` is the content of a trial store, of any version.
bool begins_trial_store(std::string_view text);

/// How to treat an existing trial store.
enum class store_opening {
  fresh,      ///< moves it to NAME.previous; throws if its experiment has not ended
  resume,     ///< continues it; throws if the experiment or one of its files has changed
  overwrite,  ///< moves it to NAME.previous, even if its experiment has not ended
};

/// A file with the raw samples of an experiment's trials as JSON lines, `graphline.trials/1`. The
/// first line describes the experiment. Each trial adds a line when it ends; the last line marks
/// the end of the experiment. Added lines survive a crash of the process; `end` flushes them to
/// disk. Opening ignores an incomplete last line. Two processes cannot write the same store. No
/// mode changes a file that is not a trial store.
class trial_store {
 public:
  /// @throws input_error that names the file and the remedy if the file cannot be used
  trial_store(const std::string& path, const experiment_plan& planned, store_opening how);
  ~trial_store();
  trial_store(const trial_store&) = delete;
  trial_store& operator=(const trial_store&) = delete;

  /// Returns the trials that `resume` found in the file.
  std::vector<trial_record> take_trials();

  /// Adds a trial. Earlier trials stay readable after an error.
  /// @throws run_error if the file cannot be written, or the trial ran on another device
  void add(const trial_record& trial);

  /// Marks the experiment as ended. `why`: why it ended early; otherwise empty.
  void end(std::string_view why = {});

 private:
  void begin(const experiment_plan& planned);
  void go_on(const experiment_plan& planned);
  /// Writes a line after the last trial. Removes any lines that followed. Returns the line's
  /// length.
  std::uint64_t append(const std::string& line);
  bool cut() noexcept;
  [[noreturn]] void fail(int code);

  std::string path_;
  owned_descriptor file_;
  std::vector<trial_record> trials_;
  /// By the rank that ran the trials.
  std::map<std::optional<trial_place>, std::optional<std::string>> devices_;
  std::int64_t count_ = 0;
  std::uint64_t bytes_ = 0;  ///< offset of the end of the last trial
  bool followed_ = false;    ///< a line follows the last trial
  bool ended_ = false;
};

}  // namespace graphline
