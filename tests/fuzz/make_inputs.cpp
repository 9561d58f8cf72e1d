// Writes what the targets begin with, a folder for each target: in FOLDER/seeds/ files that come
// with the project and results made of the tests' records, in FOLDER/hostile/ what readers once
// took too much time, memory or stack for, which is large but easily made.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/trial_store.hpp"
#include "stages/nn/onnx/onnx_model.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_calibrations.hpp"
#include "tests/report/sample_capacity.hpp"
#include "tests/report/sample_roofline.hpp"
#include "tests/report/sample_validation.hpp"
#include "tests/report/store/sample_plan.hpp"
#include "tests/stages/cpu/many_scans.hpp"
#include "tests/stages/nn/onnx/model_writer.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t many = 100'000;
const fs::path project = GRAPHLINE_SOURCE_DIR;

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

std::string lists(std::size_t deep) {
  return repeated("[", deep) + repeated("]", deep);
}

void write(const fs::path& file, std::string_view content) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw fs::filesystem_error("cannot write", file, {});
}

/// The small files of a folder whose names end so. Large ones would slow down every change to them.
void copy(const char* from, std::string_view ending, const fs::path& to) {
  constexpr std::uintmax_t largest = 16384;
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(project / from)) {
    if (entry.path().extension() != ending || entry.file_size() > largest) continue;
    fs::copy_file(entry.path(), to / entry.path().filename(), fs::copy_options::overwrite_existing);
  }
}

/// A file of JSON, and the same with lists in lists without end as a first member.
void write_json(const fs::path& folder, const std::string& target, const std::string& name,
                const std::string& text) {
  write(folder / "seeds" / target / name, text);
  write(folder / "hostile" / target / ("deep_" + name),
        R"({"deep": )" + lists(many) + "," + text.substr(text.find('{') + 1));
}

run_record full_run() {
  auto run = samples::two_models_in_parts(3);
  samples::add_graphs(run);
  samples::add_operations(run);
  return run;
}

void write_results(const fs::path& folder) {
  const auto add = [&](const char* name, const std::string& text) {
    write_json(folder, "result", name, text);
  };
  add("run.json", result_json(samples::two_models(timing_method::event, 3)));
  add("run_in_parts.json", result_json(full_run()));
  add("run_on_schedule.json", result_json(samples::two_models_on_schedule(3)));
  add("experiment.json",
      result_json(samples::made_experiment(
          "small",
          {samples::made_of({{"timing", "sync"}}), samples::made_of({{"timing", "event"}})}, 2)));
  add("roofline.json", result_json(samples::two_models_roofline(2)));
  add("capacity.json", result_json(samples::two_models_capacity({6})));
  add("validation.json", result_json(samples::two_models_validation(3)));
  add("calibration.json", calibration_json(samples::host_calibration()));
  auto long_name = samples::two_models(timing_method::event, 2);
  long_name.stages.front().name = std::string(many, 'x');
  write(folder / "hostile" / "result" / "long_name.json", result_json(long_name));

  write_json(folder, "calibration", "host.json", calibration_json(samples::host_calibration()));
  write_json(folder, "calibration", "gpu.json", calibration_json(samples::gpu_calibration()));
}

void write_stores(const fs::path& folder) {
  const auto file = folder / "seeds" / "trial_store" / "two_trials.jsonl";
  fs::create_directories(file.parent_path());
  trial_store store(file, samples::sample_plan(), store_opening::overwrite);
  store.add(samples::trial(0));
  store.add(samples::trial(1));
  std::ifstream written(file, std::ios::binary);
  std::string header;
  std::getline(written, header);
  const auto hostile = folder / "hostile" / "trial_store";
  write(hostile / "deep_trial.jsonl", header + "\n{\"trial\":" + lists(many) + "}\n");
  header.insert(header.size() - 1, ",\"deep\":" + lists(many));
  write(hostile / "deep_header.jsonl", header + "\n");
}

std::string safetensors(const std::string& header, std::size_t data_bytes) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return bytes + header + std::string(data_bytes, '\0');
}

void write_weights(const fs::path& folder) {
  const auto seeds = folder / "seeds" / "safetensors";
  copy("tests/stages/references", ".safetensors", seeds);
  copy("tests/stages/references/weights", ".safetensors", seeds);
  const auto hostile = folder / "hostile" / "safetensors";
  write(
      hostile / "deep_dtype",
      safetensors(R"({"a":{"dtype":)" + lists(many) + R"(,"shape":[1],"data_offsets":[0,4]}})", 4));
  std::string header;
  for (std::size_t i = 0; i < many; ++i) {
    header += (i == 0 ? "{\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
              std::to_string(i + 1) + "]}";
  }
  write(hostile / "many_tensors", safetensors(header + "}", many));
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A node test of ONNX whose inputs from one on are constants of its graph, which stands in the
/// file twice: the last one counts.
std::string with_constants(const fs::path& test, std::size_t from) {
  const auto later = written::message().add(8, written::message().number(2, 17)).bytes();
  const std::string bytes = bytes_of(test / "model.onnx") + later;
  const auto inputs = nn::parse_onnx(std::as_bytes(std::span(bytes)), "").graph.inputs;
  written::message constants;
  for (std::size_t i = from; i < inputs.size(); ++i) {
    const auto file = test / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    constants.text(5, bytes_of(file) + written::message().text(8, inputs[i].name).bytes());
  }
  protozero::pbf_reader model(bytes);
  model.next(7);
  const std::string graph = std::string(model.get_view()) + constants.bytes();
  return bytes + written::message().text(7, graph).bytes();
}

/// Models that are evaluated, and those of which the first input makes layers.
void write_models(const fs::path& folder) {
  const auto seeds = folder / "seeds" / "onnx";
  for (const auto& test : fs::directory_iterator("/usr/share/libonnx-testdata/data/node")) {
    for (const std::size_t from : {0, 1}) {
      const std::string model = with_constants(test.path(), from);
      if (model.size() > 4096) continue;
      write(seeds / (test.path().filename().string() + std::to_string(from)), model);
    }
  }
  using written::attribute;
  using written::message;
  auto graph = message().add(11, written::value("x", {"N", "3"}));
  auto outside = written::tensor("outside", nn::onnx_type::float32, {2}).number(14, 1);
  outside.add(13, message().text(1, "location").text(2, "input.data"));
  outside.add(13, message().text(1, "offset").text(2, "8"));
  auto branches = written::node("If", {"x"}, {"y"});
  branches.add(
      5, attribute("then_branch", 5).add(6, message().add(1, written::node("Abs", {"x"}, {"z"}))));
  branches.add(5, attribute("fs", 6).packed_reals(7, {1, 2}))
      .add(5, attribute("ss", 8).text(9, "a"));
  write(seeds / "parts", written::model(graph.add(5, outside).add(1, branches)).bytes());

  const auto hostile = folder / "hostile" / "onnx";
  message deep;
  for (int i = 0; i < 2000; ++i) {
    deep = message().add(1, written::node("If", {}, {}).add(5, attribute("g", 5).add(6, deep)));
  }
  write(hostile / "deep_graphs", written::model(deep).bytes());
  std::string nodes;
  for (std::size_t i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    nodes += message().add(1, written::node("Shape", {number}, {std::to_string(i + 1)})).bytes();
  }
  const auto first = written::tensor("0", nn::onnx_type::int8, {0}).bytes();
  write(hostile / "many_nodes",
        written::model(message().text(5, first)).bytes() +
            message().text(7, message().text(5, first).bytes() + nodes).bytes());
}

void write_yaml(const fs::path& folder) {
  copy("pipelines", ".yaml", folder / "seeds" / "pipeline");
  for (const auto* from : {"tests/spec/good", "tests/spec/bad", "tests/plan/bad"}) {
    copy(from, ".yaml", folder / "seeds" / "pipeline");
  }
  copy("pipelines/experiments", ".yaml", folder / "seeds" / "experiment");
  copy("tests/spec/bad_experiments", ".yaml", folder / "seeds" / "experiment");
  for (const auto* target : {"pipeline", "experiment"}) {
    const auto hostile = folder / "hostile" / target;
    write(hostile / "deep_lists", lists(many));
    write(hostile / "deep_mappings", repeated("{a: ", many));
    write(hostile / "deep_items", repeated("- ", many));
    write(hostile / "many_values", "[" + repeated("1,", 11 * many) + "]");
    write(hostile / "one_word", std::string(10 * many, 'x'));
  }
  write(folder / "hostile" / "pipeline" / "long_name",
        "pipeline: p\nstages:\n  - {name: " + std::string(many, 'x') +
            ", kind: cpu.spin, duration: 1ms}\n");
}

void write_pictures_and_audio(const fs::path& folder) {
  copy("tests/stages/cpu/references/audio", ".wav", folder / "seeds" / "wav");
  copy("tests/stages/cpu/references", ".jpg", folder / "seeds" / "jpeg");
  copy("tests/stages/cpu/references/images", ".jpg", folder / "seeds" / "jpeg");
  // On its side, by an Exif segment with the orientation alone.
  const std::string turned(
      "\xff\xe1\0\x22"
      "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0",
      36);
  write(folder / "seeds" / "jpeg" / "turned.jpg", jpeg_of_many_scans(8).replace(2, 0, turned));
  write(folder / "hostile" / "jpeg" / "many_scans.jpg", jpeg_of_many_scans(4096));
  write(folder / "hostile" / "jpeg" / "large.jpg", jpeg_of_many_scans(16384));
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  using namespace graphline;
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::remove_all(folder);
    write_yaml(folder);
    write_results(folder);
    write_stores(folder);
    write_weights(folder);
    write_models(folder);
    copy("tests/base/file/npy", ".npy", folder / "seeds" / "npy");
    write_pictures_and_audio(folder);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
