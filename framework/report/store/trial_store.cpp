#include "framework/report/store/trial_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/store/stored_trials.hpp"

namespace graphline {

namespace {

void refuse_one_that_has_not_ended(const std::string& path, const store_outline& outline) {
  if (outline.ended) return;
  const json_part header(outline.header, quote(path, 200));
  refuse_to_write(path, fmt::format("it holds {} of {} trials of an experiment begun on {} that "
                                    "has not ended; go on with it by --resume, or discard it by "
                                    "--overwrite",
                                    outline.trials, header.at("planned_trials").json().dump(),
                                    printable(header.at("date").text())));
}

/// Moves the trials that are there to NAME.previous, so that a disk without room for new ones costs
/// none of them. Unless told to overwrite, refuses a store that cannot be read and one of an
/// experiment that has not ended.
void make_way(const std::string& path, bool overwrite) {
  const owned_descriptor lock(open_locked(path, O_RDWR, path));
  if (!is_trial_store(path)) return;
  try {
    const auto outline = outline_of(path);
    if (outline.trials == 0) return;
    if (!overwrite) refuse_one_that_has_not_ended(path, outline);
  } catch (const input_error&) {
    if (!overwrite) throw;
  }
  const auto previous = path + ".previous";
  std::error_code none;
  if (std::filesystem::exists(previous, none) && !is_trial_store(previous)) {
    refuse_to_write(path, fmt::format("what it holds is to be kept as {}, which is no trial store; "
                                      "move one of them away",
                                      quote(previous, 200)));
  }
  if (::rename(path.c_str(), previous.c_str()) != 0) refuse_to_write(previous, reason(errno));
}

/// Opens and locks the file; one that is not there is made unless trials are to go on.
int open_store(const std::string& path, store_opening how) {
  const bool resumes = how == store_opening::resume;
  if (path.empty() || path == "-") throw input_error("a trial store needs a file of its own");
  std::error_code none;
  const bool exists = std::filesystem::exists(path, none);
  if (resumes && !exists) {
    throw input_error(fmt::format("there are no trials in {} to go on with; omit --resume to begin",
                                  quote(path, 200)));
  }
  if (!resumes && exists) make_way(path, how == store_opening::overwrite);
  return open_locked(path, O_RDWR | O_APPEND | (resumes ? 0 : O_CREAT), path);
}

/// What a trial ran on; trials of different devices cannot be compared.
std::optional<std::string> device_of(const trial_record& trial) {
  if (trial.members.empty()) return std::nullopt;
  const auto& device = trial.members.front().device;
  return fmt::format("{} ({})", device.name, device.backend);
}

}  // namespace

owned_descriptor::~owned_descriptor() {
  ::close(number);
}

trial_store::trial_store(const std::string& path, const experiment_plan& planned, store_opening how)
    : path_(path), file_(open_store(path, how)) {
  const bool empty = ::lseek(file_.number, 0, SEEK_END) == 0;
  if (!empty && !is_trial_store(path)) {
    refuse_to_write(path, "it is there already and is no trial store; name another file");
  }
  if (how == store_opening::resume) {
    go_on(planned);
  } else {
    begin(planned);
  }
}

trial_store::~trial_store() {
  ::fdatasync(file_.number);
}

void trial_store::begin(const experiment_plan& planned) {
  if (::ftruncate(file_.number, 0) != 0) refuse_to_write(path_, reason(errno));
  const auto header = store_header(planned);
  if (const int code = write_fully(file_.number, header)) refuse_to_write(path_, reason(code));
  if (::fsync(file_.number) != 0) refuse_to_write(path_, reason(errno));
  bytes_ = header.size();
}

void trial_store::go_on(const experiment_plan& planned) {
  const auto outline = outline_of(path_);
  const auto now = read_json(store_header(planned));
  const auto why =
      why_not_resumed(json_part(outline.header, quote(path_, 200)), json_part(now, "header"));
  if (!why.empty()) {
    throw input_error(fmt::format("cannot go on with {}: {}", quote(path_, 200), why));
  }
  std::vector<std::size_t> members;
  for (const auto& each : planned.configurations) members.push_back(each.members.size());
  auto stored = read_trials(path_, members);
  trials_ = std::move(stored.trials);
  count_ = static_cast<std::int64_t>(trials_.size());
  if (!trials_.empty()) device_ = device_of(trials_.front());
  bytes_ = stored.bytes;
  ended_ = stored.ended;
  followed_ = stored.followed;
}

std::vector<trial_record> trial_store::take_trials() {
  return std::exchange(trials_, {});
}

void trial_store::add(const trial_record& trial) {
  const auto device = device_of(trial);
  if (!device_) device_ = device;
  if (device != device_) {
    throw run_error(
        fmt::format("cannot add a trial on {} to {}, whose trials ran on {}; go on "
                    "there, or name another file",
                    printable(device.value_or("nothing")), quote(path_, 200),
                    printable(device_.value_or("nothing"))));
  }
  bytes_ += append(json_line({{"trial", record_json(trial)}}));
  followed_ = false;
  ++count_;
}

void trial_store::end(std::string_view why) {
  if (ended_) return;
  append(json_line({{"ended", why}}));
  if (::fdatasync(file_.number) != 0) fail(errno);
  ended_ = true;
}

std::uint64_t trial_store::append(const std::string& line) {
  if (followed_ && !cut()) fail(errno);
  followed_ = true;
  ended_ = false;
  if (const int code = write_fully(file_.number, line)) fail(code);
  return line.size();
}

bool trial_store::cut() noexcept {
  return ::ftruncate(file_.number, static_cast<off_t>(bytes_)) == 0;
}

void trial_store::fail(int code) {
  if (cut()) followed_ = false;
  throw run_error(
      fmt::format("writing {} failed: {}; what was added before ({}) is kept in it, "
                  "and --resume goes on from there",
                  quote(path_, 200), reason(code), counted(count_, "trial")));
}

}  // namespace graphline
