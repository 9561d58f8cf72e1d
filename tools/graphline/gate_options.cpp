#include "tools/graphline/gate_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/sentences.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

void gate_options::add_to(CLI::App& command, gated what, result_files& files) {
  const auto read = [this, what](const std::vector<std::string>& texts) {
    for (const auto& text : texts) gates_.push_back(parse_gate(text, what));
  };
  auto* conditions =
      command
          .add_option_function<std::vector<std::string>>(
              "--fail-if", read,
              what == gated::run ? "Exit with status 4 if 'p99>20ms', 'mean>5ms', 'max>1s',\n"
                                   "'STAGE.p99>8ms', 'late>1%', 'device_memory>2GiB' or\n"
                                   "'error>1e-3'; repeatable"
                                 : "Exit with status 4 if a verdict is 'slower>5%',\n"
                                   "'late>2points' or 'inconclusive'; repeatable")
          ->type_name("CONDITION")
          ->allow_extra_args(false)
          ->take_all();
  files.add(command, "--junit", "Write a JUnit test case for each --fail-if")->needs(conditions);
}

void gate_options::refuse(const std::function<std::string(const gate&)>& why_never) const {
  for (const auto& of : gates_) {
    if (const auto why = why_never(of); !why.empty()) {
      throw input_error(fmt::format("--fail-if {}: {}", quote(of.text), why));
    }
  }
}

exit_status gate_options::judge(const std::function<gate_result(const gate&)>& judged,
                                report::gate_suite suite, result_outputs& outputs, bool quiet,
                                exit_status ended) const {
  if (gates_.empty()) return ended;
  bool all_passed = true;
  std::string lines;
  const auto as = style_of(quiet ? stderr : outputs.for_people());
  for (const auto& one : gates_) {
    const auto& result = suite.results.emplace_back(judged(one));
    const bool passed = result.outcome == gate_outcome::passed;
    all_passed = all_passed && passed;
    if (passed && quiet) continue;
    const auto line = fmt::format("gate {}\n", report::sentence(result));
    lines += colored(line, passed ? color::good : color::bad, as);
  }
  if (quiet) {
    print(stderr, lines);
  } else {
    outputs.show('\n' + lines);
  }
  suite.properties.insert(suite.properties.begin(), {"version", std::string(version())});
  outputs.write("--junit", [&](text_sink& to) { to.append(report::as_junit(suite)); });
  return ended == exit_status::done && !all_passed ? exit_status::gate_failed : ended;
}

}  // namespace graphline
