#include "tests/report/page_records.hpp"

#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

run_record odd_names() {
  auto record = two_models(timing_method::event, 60);
  record.pipeline = "<b>\"odd\" & 'names'</b></script><!--";
  record.description = "Zeile eins\nline two \xff מימין לשמאל";
  record.stages[0].name = "<img src=x onerror=alert(1)>";
  record.stages[1].name = "quote\" 'and'\nnew line";
  record.stages[2].name = "שלב אחרון 最后 \xc3\x28";
  record.outputs[0].tensor = "score</script><script>alert(2)</script>";
  record.parameters.emplace_back("name \"x\"", "<value>\n2");
  record.source->file = "odd <file>.yaml";
  record.source->text = "pipeline: \"<b>\"\n# </script><!-- <script>\nstages:\n  - name: שלב\n";
  record.warnings.emplace_back("stage '<i>x</i>' & more");
  return record;
}

run_record long_run(std::size_t frames) {
  auto record = two_models(timing_method::event, frames);
  for (std::size_t i = 0; i < frames; i += 9973) record.frames[i].end += 60'000'000;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    record.stages.push_back(record.stages[stage]);
    record.stages.back().name += " again";
  }
  return record;
}

run_record crowded() {
  auto record = two_models(timing_method::event, 120);
  for (std::size_t i = 0; i < 57; ++i) record.stages.push_back(record.stages[i % 3]);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    record.stages[i].name = "a_stage_with_a_name_that_goes_on_" + std::to_string(i) +
                            std::string(120, 'x') + "_and_has_no_space_in_it";
  }
  record.pipeline = record.stages.front().name;
  return record;
}

run_record decided_by_a_policy() {
  auto record = two_models(timing_method::event, 20);
  for (auto& stage : record.stages) stage.preferred.assign(20, 0);
  record.stages[0].preferred[4] = choice::held_back;
  record.stages[1].preferred[4] = 3;
  record.stages[2].preferred[4] = -1;
  return record;
}

run_record failed() {
  auto record = two_models(timing_method::event, 7);
  record.run.frames = 45;
  record.failure = "stage 'head': the device has no memory left";
  return record;
}

run_record without_frames() {
  auto record = run_of(timing_method::event, {});
  record.run.frames = 45;
  record.interrupted = true;
  return record;
}

run_record in_detail() {
  auto record = two_models_in_parts(400);
  add_graphs(record);
  add_operations(record);
  return record;
}

experiment_record searched() {
  auto record = made_experiment("two_models_search",
                                {{"as in the file", {}, taking(80'000'000)},
                                 {"graphs=frame", {{"graphs", "frame"}}, taking(60'000'000)}},
                                10);
  auto& search = record.search.emplace();
  search.time_limit = 60'000'000'000;
  search.time = 63'000'000'000;
  search.frames = 400;
  search.tau = 0.8;
  using enum search_outcome;
  search.candidates = {
      {"as in the file", {}, confirmed, {}, {}, 80e6, 80e6, 12.0, 200 << 20},
      {"graphs=frame", {{"graphs", "frame"}}, confirmed, {}, 61e6, 60e6, 60e6, 16.0, 200 << 20},
      {"in_flight=4", {{"in_flight", "4"}}, measured, {}, 140e6, 150e6, 150e6, 30.0, 800 << 20},
      {"in_flight=2", {{"in_flight", "2"}}, measured, {}, 90e6, 90e6, 90e6, 15.0, 400 << 20},
      {"wait=spin", {{"wait", "spin"}}, pruned, {}, 200e6},
      {"strategy=serial", {{"strategy", "serial"}}, failed, "stage 'a': out of memory"}};
  return record;
}

}  // namespace graphline::samples
