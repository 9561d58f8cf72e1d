#include "framework/report/store/trial_exchange.hpp"

#include "framework/base/error.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

std::string text_of(const trial_exchange& exchange) {
  compact_json line;
  write_record(line.open('{').member("files", exchange.files).key("trial"), exchange.trial);
  return line.close('}').take() + "\n";
}

trial_exchange trial_exchange_from(std::string_view text) {
  const auto refuse = [](const std::exception& why) {
    throw run_error("a trial's process did not hand back a trial: " + printable(why.what()));
  };
  trial_exchange exchange;
  try {
    const auto line = read_json(text);
    const json_part from(line, "its line");
    exchange.files = from.at("files").pairs();
    exchange.trial = trial_from(from.at("trial"));
  } catch (const json_error& broken) {
    refuse(broken);
  } catch (const input_error& damaged) {
    refuse(damaged);
  }
  return exchange;
}

}  // namespace graphline
