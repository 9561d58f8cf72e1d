#include <memory>
#include <string>
#include <type_traits>
#include <variant>

#include "framework/report/describe/describe.hpp"
#include "framework/report/json/diff_json.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/store/result_reader.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/gate_options.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct diff_arguments {
  std::string before;
  std::string after;
  std::string json;
  gate_options gates;
};

report::document described(const std::string& file) {
  const auto describe = [](const auto& record) -> report::document {
    using kind = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<kind, roofline_record> ||
                  std::is_same_v<kind, calibration_record>) {
      return report::describe(record);
    }
    return {};
  };
  return std::visit(describe, read_record(file));
}

void show_documents(const diff_arguments& given, result_outputs& outputs) {
  const auto diff =
      report::diff(described(given.before), described(given.after), given.before, given.after);
  outputs.show(report::as_text(diff, look_of(outputs.for_people())));
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, diff); });
}

/// Of the result after, which is the one that passes or fails.
report::gate_suite suite_of(const origin_diff& origin) {
  const auto& [before, after] = origin.origins;
  report::gate_suite suite{
      "graphline diff " + after.subject, {{"before", before.file}, {"after", after.file}}, {}};
  for (const auto& [name, text] : after.device) {
    suite.properties.emplace_back("device." + name, text);
  }
  return suite;
}

exit_status show_difference(const diff_arguments& given) {
  const auto results = read_results(given.before, given.after);
  const bool documents = std::holds_alternative<saved_document>(results.before);
  if (documents && !given.gates.gates().empty()) {
    throw input_error(
        "--fail-if takes results of run, compare and overhead: others say nothing of how much "
        "frames or trials vary");
  }
  result_outputs outputs({{"--json", given.json, json_beginning}, given.gates.output()},
                         {given.before, given.after});

  auto status = exit_status::done;
  const auto show = [&](const auto& before) {
    // Of the same kind, which reading has made sure of.
    const auto diff = compare(before, std::get<std::decay_t<decltype(before)>>(results.after));
    outputs.show(diff_table(diff, look_of(outputs.for_people())));
    status = given.gates.judge([&](const gate& of) { return judge(of, diff); },
                               suite_of(diff.origin), outputs, false, status);
    outputs.write("--json", [&](text_sink& to) { to.append(diff_json(diff)); });
  };
  std::visit(
      [&](const auto& before) {
        if constexpr (std::is_same_v<std::decay_t<decltype(before)>, saved_document>) {
          show_documents(given, outputs);
        } else {
          show(before);
        }
      },
      results.before);
  outputs.finish();
  return status;
}

}  // namespace

void add_diff_command(CLI::App& program, action& chosen) {
  auto* command = program.add_subcommand("diff", "Show what changed between two saved results");
  auto given = std::make_shared<diff_arguments>();
  command
      ->add_option("BEFORE.json", given->before,
                   "What run, overhead, compare, calibrate or roofline wrote to --json")
      ->required();
  command->add_option("AFTER.json", given->after, "A later one of the same kind")->required();
  command->add_option("--json", given->json, "Write the difference (- for standard output)")
      ->type_name("FILE");
  given->gates.add_to(*command, gated::comparison);
  command->callback([&chosen, given] { chosen = [given] { return show_difference(*given); }; });
}

}  // namespace graphline
