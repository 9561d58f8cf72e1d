// An experiment, as `graphline compare` reads and plans it with the pipelines that it names.

#include "framework/base/error.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "stages/builtin.hpp"
#include "tests/fuzz/yaml_folder.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static stage_registry stages = builtin_stages();
  static const fuzz::yaml_folder folder;
  static const std::string path = folder.path("experiments/input.yaml");
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>([&] {
    diagnostics found;
    const auto spec = read_experiment(read_source(path), found);
    const auto planned = plan_experiment(spec, stages, {}, found);
    found.throw_if_errors();
    found.render();
    checksums_of(data_files(planned));
  });
  return 0;
}
