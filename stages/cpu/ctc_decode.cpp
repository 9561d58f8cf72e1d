#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Returns the lines of a file; the last line may lack its newline.
std::vector<std::string> read_characters(const std::string& path) {
  const auto source = read_text_file(path, std::size_t{1} << 20);
  std::vector<std::string> lines;
  std::string_view rest = source->text();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

/// Takes the most probable class of each step, merges repetitions, and then removes blanks (class
/// 0): "best path decoding" in Graves et al., "Connectionist Temporal Classification", 2006.
class ctc_decode final : public cpu_stage {
 public:
  ctc_decode(std::vector<std::string> characters, double score_threshold)
      : characters_(std::move(characters)), score_threshold_(score_threshold) {}

  void run(const cpu_call& call) override {
    const shape& steps = call.inputs[0].type.shape;
    const float* probabilities = call.inputs[0].as<const float>();
    char* text = call.outputs[0].as<char>();
    float* scores = call.outputs[1].as<float>();
    const auto room = static_cast<std::size_t>(call.outputs[0].type.shape[1]);
    std::fill_n(text, call.outputs[0].type.bytes(), '\0');
    for (std::int64_t row = 0; row < steps[0]; ++row) {
      scores[row] = 0;
      if (counted(call, row)) {
        decode(probabilities, steps);
        scores[row] = static_cast<float>(score_);
        if (score_ >= score_threshold_)
          std::copy_n(text_.data(), std::min(room, text_.size()), text);
      }
      probabilities += steps[1] * steps[2];
      text += room;
    }
  }

 private:
  static bool counted(const cpu_call& call, std::int64_t row) {
    if (call.inputs.size() < 2) return true;
    const std::int64_t each = call.inputs[0].type.shape[0] / call.inputs[1].type.shape[0];
    return row % each < call.inputs[1].as<const std::int64_t>()[row / each];
  }

  void decode(const float* probabilities, const shape& steps) {
    text_.clear();
    double sum = 0;
    std::int64_t kept = 0;
    std::int64_t before = 0;
    for (std::int64_t t = 0; t < steps[1]; ++t, probabilities += steps[2]) {
      const float* best = std::max_element(probabilities, probabilities + steps[2]);
      const std::int64_t found = best - probabilities;
      if (found != before && found != 0) {
        text_ += characters_[static_cast<std::size_t>(found - 1)];
        sum += static_cast<double>(*best);
        ++kept;
      }
      before = found;
    }
    score_ = kept == 0 ? 0 : sum / static_cast<double>(kept);
  }

  std::vector<std::string> characters_;
  double score_threshold_;
  std::string text_;  // text of the last decoded row
  double score_ = 0;
};

prepared_stage prepare_ctc_decode(const arguments& given, std::span<const tensor_type> inputs,
                                  diagnostics& out) {
  const shape& steps = inputs[0].shape;
  const bool counted = inputs.size() > 1;
  const bool sound =
      inputs[0].element == dtype::float32 && steps.rank() == 3 && steps[2] > 1 &&
      (!counted || (inputs[1].element == dtype::int64 && inputs[1].shape.rank() == 1 &&
                    steps[0] % inputs[1].shape[0] == 0));
  if (!sound) {
    out.error(
        given.where(),
        fmt::format("cpu.ctc_decode reads probabilities float32 [N, T, C > 1] and optionally how "
                    "many int64 [B] with N divisible by B; found {}{}",
                    to_string(inputs[0]), counted ? " and " + to_string(inputs[1]) : ""));
    return {};
  }
  std::vector<std::string> characters;
  try {
    characters = read_characters(given.text("characters"));
  } catch (const unreadable_file& problem) {
    out.error(given.where("characters"),
              fmt::format("{}: {}", quote(given.text("characters"), 200), problem.reason()));
    return {};
  }
  if (static_cast<std::int64_t>(characters.size()) != steps[2] - 1) {
    out.error(
        given.where("characters"),
        fmt::format("'{}' has {} lines, but {} has {} classes: there must be a line for each "
                    "but the first, the blank",
                    given.text("characters"), characters.size(), to_string(inputs[0]), steps[2]));
    return {};
  }
  const auto longest = std::ranges::max(characters, {}, &std::string::size).size();
  return prepared_moves(
      inputs,
      {{{steps[0], steps[1] * static_cast<std::int64_t>(longest)}, dtype::uint8},
       {{steps[0]}, dtype::float32}},
      [characters, threshold = given.number("score_threshold")](const stage_config&) {
        return std::make_unique<ctc_decode>(characters, threshold);
      });
}

}  // namespace

stage_kind ctc_decode_kind() {
  stage_kind kind;
  kind.name = "cpu.ctc_decode";
  kind.headline =
      "Read texts from probabilities of characters (connectionist temporal classification)";
  kind.on = side::cpu;
  kind.inputs = {
      {"probabilities", "float32 [N, T, C], of C classes at T steps; class 0 is the blank"},
      {"count", "int64 [B]: how many of each N / B rows to read; without it all"}};
  kind.optional_inputs = 1;
  kind.outputs = {{"text", "uint8 [N, bytes]: texts in UTF-8, each followed by zeros"},
                  {"score", "float32 [N], mean probability of a text's characters; 0 without any"}};
  kind.parameters = {
      {.name = "characters",
       .type = parameter_type::path,
       .help = "Text file whose first line is class 1, and so on.",
       .required = true},
      {.name = "score_threshold",
       .type = parameter_type::number,
       .help = "Texts that score less are left empty.",
       .default_value = "0",
       .minimum = 0,
       .maximum = 1},
  };
  kind.prepare = prepare_ctc_decode;
  return kind;
}

}  // namespace graphline
