#include "framework/report/store/trial_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/store/stored_trials.hpp"

namespace graphline {

namespace {

/// Bringing what was written to the disk may take 1/100 of the time.
constexpr nanoseconds least_between_syncs = 99;  // times as long as one takes

/// A descriptor that closes itself, and with it gives back the lock on its file.
class owned_descriptor {
 public:
  owned_descriptor() = default;
  explicit owned_descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~owned_descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// A file that goes away again unless it gets another name.
class temporary_name {
 public:
  explicit temporary_name(std::string name) : name_(std::move(name)) {}
  ~temporary_name() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  temporary_name(const temporary_name&) = delete;
  temporary_name& operator=(const temporary_name&) = delete;

  void become(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) refuse_to_write(path, reason(errno));
    name_.clear();
  }

 private:
  std::string name_;
};

/// What a trial ran on; trials of different devices cannot be compared.
std::optional<std::string> device_of(const trial_record& trial) {
  if (trial.members.empty()) return std::nullopt;
  const auto& device = trial.members.front().device;
  return fmt::format("{} ({})", device.name, device.backend);
}

/// Refuses what no mode may touch: folders, devices, and files that are no trial stores. Returns
/// whether there is a store.
bool store_exists(const std::string& path) {
  if (path.empty() || path == "-") throw input_error("a trial store needs a file of its own");
  struct stat found {};
  if (path.back() == '/' || (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode))) {
    refuse_to_write(path, "it is a folder; name a file in it");
  }
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return false;
    refuse_to_write(path, why_not_opened(path, errno));
  }
  if (!S_ISREG(found.st_mode)) refuse_to_write(path, "it is no regular file; name another one");
  if (::access(path.c_str(), R_OK | W_OK) != 0) refuse_to_write(path, reason(errno));
  if (!is_trial_store(path)) {
    refuse_to_write(path, "it is there already and is no trial store; name another file");
  }
  return true;
}

}  // namespace

class trial_store::implementation {
 public:
  implementation(const std::string& path, const experiment_plan& planned, store_opening how)
      : path_(path), target_(behind_links(path)) {
    if (how == store_opening::resume) {
      go_on(planned);
    } else {
      begin(planned, how == store_opening::fresh);
    }
  }

  ~implementation() {
    if (unsynced_) ::fdatasync(file_.get());
  }

  std::vector<trial_record> take_trials() { return std::exchange(trials_, {}); }

  void add(const trial_record& trial) {
    const auto device = device_of(trial);
    if (!device_) device_ = device;
    if (device != device_) {
      throw run_error(
          fmt::format("cannot add a trial on {} to {}, whose trials ran on {}; go on "
                      "there, or name another file",
                      printable(device.value_or("nothing")), quote(path_, 200),
                      printable(device_.value_or("nothing"))));
    }
    compact_json line;
    write_record(line.open('{').key("trial"), trial);
    bytes_ += append(line.close('}').take() + "\n", false);
    followed_ = false;
    ++count_;
  }

  void end(std::string_view why) {
    if (ended_) return;
    compact_json line;
    append(line.open('{').member("ended", why).close('}').take() + "\n", true);
    ended_ = true;
  }

 private:
  void begin(const experiment_plan& planned, bool keep_ended) {
    store_exists(path_);  // before anything is made beside what may not be touched
    const auto part = target_ + ".part";
    // Whoever has the lock on this one begins the store: nobody else can while we look at it.
    file_ = owned_descriptor(open_locked(part, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, path_));
    temporary_name name(part);
    owned_descriptor old;
    bool keeps = false;
    if (store_exists(path_)) {
      old = owned_descriptor(open_locked(target_, O_RDWR, path_));
      keeps = keep_ended && holds_what_ended();
    }
    if (::ftruncate(file_.get(), 0) != 0) refuse_to_write(path_, reason(errno));
    const auto header = store_header(planned) + "\n";
    if (const int code = write_fully(file_.get(), header)) refuse_to_write(path_, reason(code));
    if (::fsync(file_.get()) != 0) refuse_to_write(path_, reason(errno));
    if (keeps) keep_as_previous();
    name.become(target_);
    bytes_ = header.size();
  }

  /// Whether the store is worth keeping, which one without trials is not. Refuses one that has not
  /// ended.
  bool holds_what_ended() const {
    const auto outline = outline_of(target_);
    if (outline.ended || outline.trials == 0) return outline.trials > 0;
    const json_part header(outline.header, quote(path_, 200));
    refuse_to_write(path_, fmt::format("it holds {} of {} trials of an experiment begun on {} that "
                                       "has not ended; go on with it by --resume, or discard it by "
                                       "--overwrite",
                                       outline.trials, header.at("planned_trials").json().dump(),
                                       printable(header.at("date").text())));
  }

  void keep_as_previous() const {
    const auto previous = target_ + ".previous";
    struct stat found {};
    if (::lstat(previous.c_str(), &found) == 0 &&
        (!S_ISREG(found.st_mode) || !is_trial_store(previous))) {
      refuse_to_write(path_,
                      fmt::format("what is there is to be kept as {}, which is there already "
                                  "and is no trial store; move one of them away",
                                  quote(previous, 200)));
    }
    if (::rename(target_.c_str(), previous.c_str()) != 0) {
      refuse_to_write(previous, reason(errno));
    }
  }

  void go_on(const experiment_plan& planned) {
    if (!store_exists(path_)) {
      throw input_error(
          fmt::format("there are no trials in {} to go on with; leave --resume away "
                      "to begin",
                      quote(path_, 200)));
    }
    file_ = owned_descriptor(open_locked(target_, O_RDWR | O_APPEND, path_));
    const auto outline = outline_of(target_);
    const auto now = read_json(store_header(planned));
    const auto why =
        why_not_resumed(json_part(outline.header, quote(path_, 200)), json_part(now, "header"));
    if (!why.empty()) {
      throw input_error(fmt::format("cannot go on with {}: {}", quote(path_, 200), why));
    }
    std::vector<std::size_t> members;
    for (const auto& each : planned.configurations) members.push_back(each.members.size());
    auto stored = read_trials(target_, members);
    trials_ = std::move(stored.trials);
    count_ = static_cast<std::int64_t>(trials_.size());
    if (!trials_.empty()) device_ = device_of(trials_.front());
    bytes_ = stored.bytes;
    ended_ = stored.ended;
    followed_ = stored.followed;
  }

  /// Puts a line after the last trial, in place of what follows it there. Returns its length.
  std::uint64_t append(const std::string& line, bool sync_now) {
    if (followed_ && !cut()) fail(errno);
    followed_ = true;
    ended_ = false;
    if (const int code = write_fully(file_.get(), line)) fail(code);
    unsynced_ = true;
    const auto before = now();
    if (sync_now || before >= next_sync_) {
      if (::fdatasync(file_.get()) != 0) fail(errno);
      const auto after = now();
      next_sync_ = after + least_between_syncs * (after - before);
      unsynced_ = false;
    }
    return line.size();
  }

  bool cut() noexcept { return ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) == 0; }

  [[noreturn]] void fail(int code) {
    if (cut()) followed_ = false;
    throw run_error(
        fmt::format("writing {} failed: {}; what was added before ({}) is kept in it, "
                    "and --resume goes on from there",
                    quote(path_, 200), reason(code), counted(count_, "trial")));
  }

  std::string path_;
  std::string target_;  ///< what `path_` leads to when links are followed
  owned_descriptor file_;
  std::vector<trial_record> trials_;
  std::optional<std::string> device_;
  std::int64_t count_ = 0;
  std::uint64_t bytes_ = 0;  ///< up to the end of the last trial
  bool followed_ = false;    ///< there is something after the last trial
  bool ended_ = false;
  bool unsynced_ = false;
  nanoseconds next_sync_ = 0;
};

trial_store::trial_store(const std::string& path, const experiment_plan& planned, store_opening how)
    : impl_(std::make_unique<implementation>(path, planned, how)) {}

trial_store::~trial_store() = default;

std::vector<trial_record> trial_store::take_trials() {
  return impl_->take_trials();
}

void trial_store::add(const trial_record& trial) {
  impl_->add(trial);
}

void trial_store::end(std::string_view why) {
  impl_->end(why);
}

}  // namespace graphline
