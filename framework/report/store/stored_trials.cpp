#include "framework/report/store/stored_trials.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "framework/base/error.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

/// What the first line of every trial store begins with, of whatever version: by this it is known.
constexpr std::string_view store_beginning = R"({"schema":"graphline.trials/)";

/// The schema of the stores that this program writes and reads.
constexpr std::string_view store_schema = "graphline.trials/1";

using texts = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view remedy = "or start over with --overwrite";

void write_configuration(compact_json& to, const planned_configuration& configuration) {
  const auto& what = configuration.what;
  to.open('{').member("name", what.name).member("assignments", what.assignments);
  to.key("members").open('[');
  for (std::size_t i = 0; i < configuration.members.size(); ++i) {
    const auto& member = configuration.members[i];
    to.open('{').member("name", what.members[i]).member("pipeline", member.pipeline);
    to.member("parameters", member.parameters);
    write_record(to.key("settings"), member.run);
    to.close('}');
  }
  to.close(']').close('}');
}

/// What must not change of a part of the header, as names and values.
texts facts_of(const json_part& object) {
  texts facts;
  for (const auto& [key, value] : object.json().items()) {
    facts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return facts;
}

texts facts_of_member(const json_part& member) {
  texts facts = {{"name", member.at("name").text()}, {"pipeline", member.at("pipeline").text()}};
  for (auto& fact : member.at("parameters").pairs()) facts.push_back(std::move(fact));
  for (auto& fact : facts_of(member.at("settings"))) facts.push_back(std::move(fact));
  return facts;
}

texts facts_of_whole(const json_part& header) {
  const auto how = header.at("settings");
  return {{"graphline", header.at("graphline").text()},
          {"seed", how.at("seed").json().dump()},
          {"processes", how.at("fresh_processes").boolean() ? "fresh" : "one"}};
}

/// The first fact that differs, in words; empty when none does. `where`: in what.
std::string change(const texts& stored, const texts& now, const std::string& where) {
  const auto value_in = [](const texts& facts, const std::string& name) -> const std::string* {
    const auto found = std::find_if(facts.begin(), facts.end(),
                                    [&](const auto& fact) { return fact.first == name; });
    return found == facts.end() ? nullptr : &found->second;
  };
  const auto shown = [](const std::string* value) {
    return value == nullptr ? std::string("not there") : printable(*value);
  };
  for (const auto* facts : {&stored, &now}) {
    for (const auto& [name, value] : *facts) {
      const auto* was = value_in(stored, name);
      const auto* is = value_in(now, name);
      if (was != nullptr && is != nullptr && *was == *is) continue;
      return fmt::format(
          "{}{} was {} when these trials were made and is {} now; set it as it was, {}", where,
          quote(name), shown(was), shown(is), remedy);
    }
  }
  return "";
}

/// A file may be named by another path, if its text is the same.
std::string change_of_files(const texts& stored, const texts& now) {
  std::vector<std::string> changed;
  for (const auto& [path, checksum] : now) {
    const auto same_name = [&path = path](const auto& file) { return file.first == path; };
    const auto same_text = [&sum = checksum](const auto& file) { return file.second == sum; };
    const auto before = std::find_if(stored.begin(), stored.end(), same_name);
    if (before == stored.end()) {
      if (std::any_of(stored.begin(), stored.end(), same_text)) continue;
      return fmt::format("these trials were made without {}; name another file for new ones, {}",
                         quote(path, 200), remedy);
    }
    if (before->second == checksum) continue;
    if (path == "device") return change({*before}, {{path, checksum}}, "the ");
    changed.push_back(quote(path, 200));
  }
  if (changed.empty()) return "";
  const bool one = changed.size() == 1;
  return fmt::format("{} {} changed since these trials were made; restore {}, {}",
                     fmt::join(changed, " and "), one ? "has" : "have", one ? "it" : "them",
                     remedy);
}

/// Of how many there are of something, in the form of `change`.
std::string change_of_number(const char* of, std::size_t stored, std::size_t now,
                             const std::string& where) {
  return change({{of, std::to_string(stored)}}, {{of, std::to_string(now)}},
                where + "the number of ");
}

std::string change_of_configuration(const json_part& stored, const json_part& now) {
  const auto& name = now.at("name").text();
  auto found = change({{"configuration", stored.at("name").text()}}, {{"configuration", name}}, "");
  if (!found.empty()) return found;
  const auto where = fmt::format("in configuration {}, ", quote(name));
  const auto before = stored.at("members").items();
  const auto after = now.at("members").items();
  found = change_of_number("pipelines", before.size(), after.size(), where);
  for (std::size_t i = 0; found.empty() && i < after.size(); ++i) {
    found = change(facts_of_member(before[i]), facts_of_member(after[i]), where);
  }
  return found;
}

std::string change_of_configurations(const json_part& stored, const json_part& now) {
  const auto before = stored.items();
  const auto after = now.items();
  auto found = change_of_number("configurations", before.size(), after.size(), "");
  for (std::size_t i = 0; found.empty() && i < after.size(); ++i) {
    found = change_of_configuration(before[i], after[i]);
  }
  return found;
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

nlohmann::ordered_json header_of(const std::string& line, const std::string& path) {
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
  compact_json to;
  to.open('{').member("schema", store_schema).member("name", planned.name);
  to.member("description", planned.description).member("graphline", version());
  to.member("date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))));
  to.member("planned_trials", planned.how.trials * count).member("files", planned.files);
  write_record(to.key("settings"), planned.how);
  to.key("configurations").open('[');
  for (const auto& configuration : planned.configurations) write_configuration(to, configuration);
  write_record(to.close(']').key("pairs"), planned.pairs);
  to.close('}');
  return to.take();
}

std::string why_not_resumed(const json_part& stored, const json_part& now) {
  if (const auto& name = stored.at("name").text(); name != now.at("name").text()) {
    return fmt::format("these are trials of the experiment {}, not of {}; name another file, {}",
                       quote(name), quote(now.at("name").text()), remedy);
  }
  auto why = change_of_files(stored.at("files").pairs(), now.at("files").pairs());
  if (why.empty()) {
    why = change_of_configurations(stored.at("configurations"), now.at("configurations"));
  }
  return why.empty() ? change(facts_of_whole(stored), facts_of_whole(now), "") : why;
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

std::string text_of(const trial_exchange& exchange) {
  compact_json line;
  write_record(line.open('{').member("files", exchange.files).key("trial"), exchange.trial);
  return line.close('}').take() + "\n";
}

trial_exchange trial_exchange_from(std::string_view text) {
  try {
    const auto line = read_json(text);
    const json_part from(line, "its line");
    return {from.at("files").pairs(), trial_from(from.at("trial"))};
  } catch (const std::runtime_error& why) {  // no JSON, or damaged
    throw run_error("a trial's process did not hand back a trial: " + printable(why.what()));
  }
}

}  // namespace graphline
