#include "framework/report/store/trial_store.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline {
namespace {

/// Beginning of the first line of all trial stores, whatever their version.
constexpr std::string_view store_beginning = R"({"schema":"graphline.trials/)";

constexpr std::string_view store_schema = "graphline.trials/1";

using json = nlohmann::ordered_json;

json configuration_json(const planned_configuration& configuration) {
  const auto& what = configuration.what;
  json members = json::array();
  for (std::size_t i = 0; i < configuration.members.size(); ++i) {
    const auto& member = configuration.members[i];
    members.push_back({{"name", what.members[i]},
                       {"pipeline", member.pipeline},
                       {"parameters", texts_json(member.parameters)},
                       {"settings", part_json(member.run)}});
  }
  return {{"name", what.name}, {"assignments", texts_json(what.assignments)}, {"members", members}};
}

/// Returns the first line: the experiment, with the settings of all its pipelines.
std::string store_header(const experiment_plan& planned) {
  const auto count = static_cast<std::int64_t>(planned.configurations.size());
  json header = {{"schema", store_schema},
                 {"name", planned.name},
                 {"description", planned.description},
                 {"graphline", version()},
                 {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                 {"planned_trials", planned.how.trials * count},
                 {"files", texts_json(planned.files)},
                 {"settings", part_json(planned.how)},
                 {"configurations", json::array()},
                 {"pairs", part_json(planned.pairs)}};
  for (const auto& one : planned.configurations) {
    header["configurations"].push_back(configuration_json(one));
  }
  return json_line(header);
}

/// Returns the parts of the header that must be equal for a resumed experiment.
json identity_of(const json_part& header) {
  json result;
  for (const char* key : {"name", "files", "graphline", "configurations"}) {
    result[key] = header.at(key).json();
  }
  result["seed"] = header.at("settings").at("seed").json();
  return result;
}

/// Returns why an experiment cannot be resumed, and the remedy; empty if it can. Settings of the
/// experiment may differ, except the seed.
std::string why_not_resumed(const json_part& stored, const json_part& now) {
  const auto before = identity_of(stored);
  const auto after = identity_of(now);
  const auto differences = json::diff(before, after);
  if (differences.empty()) return "";
  const auto& place = differences[0]["path"].get_ref<const std::string&>();
  const auto value_in = [&](const json& identity) {
    const json::json_pointer at(place);
    if (!identity.contains(at)) return std::string("absent");
    return quote(identity[at].is_string() ? identity[at].get<std::string>() : identity[at].dump());
  };
  std::string where;  // the path, with the escapes of the JSON pointer resolved
  for (json::json_pointer at(place); !at.empty(); at.pop_back()) {
    where = at.back() + (where.empty() ? "" : "/") + where;
  }
  return fmt::format(
      "{} was {} when these trials were made and is {} now; set it back, or start over with "
      "--overwrite",
      printable(where), value_in(before), value_in(after));
}

// ---- Reading ------------------------------------------------------------------------------------

/// Returns true if the file is a trial store of any version. Does not open pipes, which could
/// block.
bool is_trial_store(const std::string& path) {
  if (std::error_code none; !std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string beginning(store_beginning.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return file && begins_trial_store(beginning);
}

class line_reader {
 public:
  explicit line_reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) fail();
    file_.exceptions(std::ios::badbit);  // distinguishes lack of memory from a bad disk
  }

  /// Reads the next complete line, without its newline. Returns false if there is none.
  bool next(std::string& line) {
    try {
      if (!std::getline(file_, line)) return false;
    } catch (const std::ios::failure&) {
      fail();
    }
    // A line without a newline is incomplete. The process was killed while it wrote the line.
    half_ = file_.eof();
    if (half_) return false;
    ++number_;
    bytes_ += line.size() + 1;
    return true;
  }

  bool last() { return file_.peek() == std::ifstream::traits_type::eof(); }
  bool half() const { return half_; }  ///< an incomplete line follows the complete lines
  std::size_t number() const { return number_; }
  std::uint64_t bytes() const { return bytes_; }  ///< bytes of the lines read so far

 private:
  [[noreturn]] void fail() const {
    throw input_error(fmt::format("cannot read {}", quote(path_, 200)));
  }

  std::string path_;
  std::ifstream file_;
  std::size_t number_ = 0;
  std::uint64_t bytes_ = 0;
  bool half_ = false;
};

json header_of(const std::string& line, const std::string& path) {
  auto header = find_json(line);
  if (!header || !header->is_object()) {
    throw input_error(
        fmt::format("the first line of {} is damaged, which says what the trials are; "
                    "name another file, or start over with --overwrite",
                    quote(path, 200)));
  }
  const json_part whole(*header, quote(path, 200));
  if (const auto& schema = whole.at("schema").text(); schema != store_schema) {
    throw input_error(
        fmt::format("{} holds trials as {}, this program reads {}; go on with the "
                    "version of Graphline that made them, name another file, or start "
                    "over with --overwrite",
                    quote(path, 200), quote(schema), store_schema));
  }
  return *std::move(header);
}

[[noreturn]] void refuse_line(const std::string& path, std::size_t number, const char* why) {
  throw input_error(
      fmt::format("line {} of {} is damaged: {}; cut the file before that line, or "
                  "start over with --overwrite",
                  number, quote(path, 200), printable(why)));
}

/// A trial store without its trials.
struct store_outline {
  json header;
  std::size_t trials = 0;
  bool ended = false;  ///< the last line says that the experiment ended
};

/// @throws input_error if the store has another version or a damaged first line
store_outline outline_of(const std::string& path) {
  line_reader lines(path);
  store_outline outline;
  std::string line;
  lines.next(line);
  outline.header = header_of(line, path);
  while (lines.next(line)) {
    outline.ended = line.starts_with(R"({"ended":)");
    if (line.starts_with(R"({"trial":)")) ++outline.trials;
  }
  return outline;
}

/// The trials of a store, and where the next trial belongs.
struct stored_trials {
  std::vector<trial_record> trials;
  std::uint64_t bytes = 0;  ///< offset of the end of the last trial
  bool ended = false;       ///< a line after the trials says that the experiment ended
  bool followed = false;    ///< that line, or an incomplete line, follows the trials
};

/// Reads all trials. Ignores an incomplete last line. `members`: number of pipelines of each
/// configuration.
/// @throws input_error that names a damaged line
stored_trials read_trials(const std::string& path, const std::vector<std::size_t>& members) {
  line_reader lines(path);
  stored_trials stored;
  std::string line;
  lines.next(line);
  stored.bytes = lines.bytes();
  while (lines.next(line)) {
    try {
      const auto value = read_json(line);
      if (value.is_object() && value.contains("ended")) {
        stored.ended = stored.followed = true;
        continue;
      }
      const auto trial = json_part(value, "the line").at("trial");
      const json_part from(trial.json(), "trial");
      stored.trials.push_back(trial_from(from));
      check_trial(from, stored.trials.back(), members);
      stored.ended = stored.followed = false;
      stored.bytes = lines.bytes();
    } catch (const json_error& broken) {
      // After a power failure, the last line can be incomplete although it ends with a newline.
      if (!lines.last()) refuse_line(path, lines.number(), broken.what());
      stored.followed = true;
      break;
    } catch (const input_error& damaged) {
      refuse_line(path, lines.number(), damaged.what());
    }
  }
  stored.followed = stored.followed || lines.half();
  return stored;
}

// ---- Opening ------------------------------------------------------------------------------------

void refuse_one_that_has_not_ended(const std::string& path, const store_outline& outline) {
  if (outline.ended) return;
  const json_part header(outline.header, quote(path, 200));
  refuse_to_write(path, fmt::format("it holds {} of {} trials of an experiment begun on {} that "
                                    "has not ended; go on with it by --resume, or discard it by "
                                    "--overwrite",
                                    outline.trials, header.at("planned_trials").json().dump(),
                                    printable(header.at("date").text())));
}

/// Moves existing trials to NAME.previous. Without `overwrite`, throws if the store is unreadable
/// or its experiment has not ended.
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
  if (::rename(path.c_str(), previous.c_str()) != 0) refuse_to_write(previous, errno_text(errno));
}

/// Opens and locks the file. Creates it if it is missing, except for `resume`.
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

/// Returns the name of a trial's device. All trials of a rank must have the same.
std::optional<std::string> device_of(const trial_record& trial) {
  if (trial.members.empty()) return std::nullopt;
  const auto& device = trial.members.front().device;
  return fmt::format("{} ({})", device.name, device.backend);
}

/// Returns the kind in the name of a device.
std::string backend_in(const std::optional<std::string>& device) {
  return device ? device->substr(device->rfind('(')) : "";
}

}  // namespace

owned_descriptor::~owned_descriptor() {
  ::close(number);
}

bool begins_trial_store(std::string_view text) {
  return text.starts_with(store_beginning);
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
  if (::ftruncate(file_.number, 0) != 0) refuse_to_write(path_, errno_text(errno));
  const auto header = store_header(planned);
  if (const int code = write_fully(file_.number, header)) refuse_to_write(path_, errno_text(code));
  if (::fsync(file_.number) != 0) refuse_to_write(path_, errno_text(errno));
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
  for (const auto& trial : trials_) devices_.try_emplace(trial.place, device_of(trial));
  bytes_ = stored.bytes;
  ended_ = stored.ended;
  followed_ = stored.followed;
}

std::vector<trial_record> trial_store::take_trials() {
  return std::exchange(trials_, {});
}

void trial_store::add(const trial_record& trial) {
  const auto device = device_of(trial);
  // Ranks may have different devices, but of one kind.
  auto other = devices_.try_emplace(trial.place, device).first;
  if (other->second == device) {
    other = std::ranges::find_if(devices_, [&](const auto& known) {
      return backend_in(known.second) != backend_in(device);
    });
  }
  if (other != devices_.end()) {
    throw run_error(
        fmt::format("cannot add a trial on {} to {}, whose trials ran on {}; go on "
                    "there, or name another file",
                    printable(device.value_or("nothing")), quote(path_, 200),
                    printable(other->second.value_or("nothing"))));
  }
  bytes_ += append(json_line({{"trial", part_json(trial)}}));
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
                  quote(path_, 200), errno_text(code), counted(count_, "trial")));
}

}  // namespace graphline
