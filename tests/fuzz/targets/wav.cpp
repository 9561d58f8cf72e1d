// A WAV file, as the stage `cpu.audio` reads it.

#include <vector>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  fuzz::write(folder / "input.wav", data, size);
  fuzz::read_or_refuse<input_error>([&] {
    stage_config config{.name = "read", .arguments = {}, .inputs = {}, .outputs = {}};
    config.arguments.set("folder", folder.path().string(), {});
    config.arguments.set("rate", std::int64_t{16000}, {});
    config.arguments.set("samples", std::int64_t{1000}, {});
    diagnostics problems;
    const prepared_stage prepared =
        audio_kind().open(config.arguments, problems).prepare(config.arguments, {}, problems);
    problems.throw_if_errors();
    std::vector<float> samples(1000);
    std::int64_t length = 0;
    const tensor_view outputs[] = {{samples.data(), prepared.outputs[0]},
                                   {&length, prepared.outputs[1]}};
    prepared.make_cpu(config)->run({.inputs = {}, .outputs = outputs});
  });
  return 0;
}
