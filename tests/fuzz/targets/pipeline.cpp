// A pipeline, as `graphline check` and `inspect` read it. Plug-ins are not loaded: a pipeline that
// names one is trusted like a program.

#include "framework/base/error.hpp"
#include "framework/plan/cost_summary.hpp"
#include "framework/plan/planner.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "stages/builtin.hpp"
#include "tests/fuzz/yaml_folder.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const stage_registry stages = builtin_stages();
  static const fuzz::yaml_folder folder;
  static const std::string path = folder.path("input.yaml");
  static const plan_target machine{"host", std::uint64_t{16} << 30, std::uint64_t{16} << 30};
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>([&] {
    diagnostics found;
    const auto spec = read_pipeline(read_source(path), {}, found);
    const auto planned = make_plan(spec, stages, machine, found);
    found.throw_if_errors();
    found.render();
    report::as_text(report::describe(planned, machine));
    report::as_text(report::describe(summarize_cost(planned)));
  });
  return 0;
}
