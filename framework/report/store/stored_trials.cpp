#include "framework/report/store/stored_trials.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "framework/base/error.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

/// What the first line of every trial store begins with, of whatever version: by this it is known.
constexpr std::string_view store_beginning = R"({"schema":"graphline.trials/)";

/// The schema of the stores that this program writes and reads.
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
                       {"settings", record_json(member.run)}});
  }
  return {{"name", what.name}, {"assignments", texts_json(what.assignments)}, {"members", members}};
}

/// What trials must have in common to go on.
json identity_of(const json_part& header) {
  json result;
  for (const char* key : {"name", "files", "graphline", "configurations"}) {
    result[key] = header.at(key).json();
  }
  result["seed"] = header.at("settings").at("seed").json();
  return result;
}

/// The lines of a store that were written to their end.
class line_reader {
 public:
  explicit line_reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) fail();
    file_.exceptions(std::ios::badbit);  // else too little memory for a line looks like a bad disk
  }

  /// The next line, without its end; nothing after the last one.
  bool next(std::string& line) {
    try {
      if (!std::getline(file_, line)) return false;
    } catch (const std::ios::failure&) {
      fail();
    }
    // Without its end, the process that wrote it was killed.
    half_ = file_.eof();
    if (half_) return false;
    ++number_;
    bytes_ += line.size() + 1;
    return true;
  }

  bool last() { return file_.peek() == std::ifstream::traits_type::eof(); }
  bool half() const { return half_; }  ///< a part of a line follows the last one
  std::size_t number() const { return number_; }
  std::uint64_t bytes() const { return bytes_; }  ///< up to the end of the line

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

}  // namespace

std::string store_header(const experiment_plan& planned) {
  const auto count = static_cast<std::int64_t>(planned.configurations.size());
  json header = {{"schema", store_schema},
                 {"name", planned.name},
                 {"description", planned.description},
                 {"graphline", version()},
                 {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))},
                 {"planned_trials", planned.how.trials * count},
                 {"files", texts_json(planned.files)},
                 {"settings", record_json(planned.how)},
                 {"configurations", json::array()},
                 {"pairs", record_json(planned.pairs)}};
  for (const auto& one : planned.configurations) {
    header["configurations"].push_back(configuration_json(one));
  }
  return json_line(header);
}

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
  std::string where;  // without the escapes of a JSON pointer, such as in a file's name
  for (json::json_pointer at(place); !at.empty(); at.pop_back()) {
    where = at.back() + (where.empty() ? "" : "/") + where;
  }
  return fmt::format(
      "{} was {} when these trials were made and is {} now; set it back, or start over with "
      "--overwrite",
      printable(where), value_in(before), value_in(after));
}

bool is_trial_store(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string beginning(store_beginning.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return file && beginning == store_beginning;
}

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
      // A power failure may leave a last line with its end but not all before it.
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

}  // namespace graphline
