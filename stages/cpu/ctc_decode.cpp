#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Returns the lines of a file; the last line may lack its newline.
std::vector<std::string> read_characters(const std::string& path) {
  std::istringstream text(std::string(read_text_file(path, std::size_t{1} << 20)->text()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Merges repetitions of the most probable classes and then removes blanks (class 0): "best path
/// decoding" in Graves et al., "Connectionist Temporal Classification", 2006.
class ctc_decode final : public cpu_stage {
 public:
  /// Each of the counts, if read, applies to `rows_per_count` rows.
  ctc_decode(std::string file, std::vector<std::string> characters, double score_threshold,
             std::int64_t rows_per_count)
      : file_(std::move(file)),
        characters_(std::move(characters)),
        score_threshold_(score_threshold),
        rows_per_count_(rows_per_count) {}

  void run(const cpu_call& call) override {
    const shape& steps = call.inputs[0].type.shape;
    const std::int64_t* classes = call.inputs[0].as<const std::int64_t>();
    const float* probabilities = call.inputs[1].as<const float>();
    char* text = call.outputs[0].as<char>();
    float* scores = call.outputs[1].as<float>();
    const auto room = static_cast<std::size_t>(call.outputs[0].type.shape[1]);
    std::fill_n(text, call.outputs[0].type.bytes(), '\0');
    for (std::int64_t row = 0; row < steps[0]; ++row) {
      scores[row] = 0;
      if (counted(call, row)) {
        decode(classes, probabilities, steps[1]);
        scores[row] = static_cast<float>(score_);
        if (score_ >= score_threshold_)
          std::copy_n(text_.data(), std::min(room, text_.size()), text);
      }
      classes += steps[1];
      probabilities += steps[1];
      text += room;
    }
  }

 private:
  bool counted(const cpu_call& call, std::int64_t row) const {
    if (call.inputs.size() < 3) return true;
    const std::int64_t* counts = call.inputs[2].as<const std::int64_t>();
    return row % rows_per_count_ < counts[row / rows_per_count_];
  }

  void decode(const std::int64_t* classes, const float* probabilities, std::int64_t steps) {
    text_.clear();
    double sum = 0;
    std::int64_t kept = 0;
    std::int64_t before = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t found = classes[t];
      if (found != before && found != 0) {
        text_ += character(found);
        sum += static_cast<double>(probabilities[t]);
        ++kept;
      }
      before = found;
    }
    score_ = kept == 0 ? 0 : sum / static_cast<double>(kept);
  }

  const std::string& character(std::int64_t found) const {
    const auto lines = static_cast<std::int64_t>(characters_.size());
    if (found >= 1 && found <= lines) return characters_[static_cast<std::size_t>(found - 1)];
    throw run_error(fmt::format(
        "class {} has no character: '{}' has {} lines, for classes 1 to {}; name the file that was "
        "made for the network",
        found, file_, lines, lines));
  }

  std::string file_;
  std::vector<std::string> characters_;
  double score_threshold_;
  std::int64_t rows_per_count_;
  std::string text_;  // text of the last decoded row
  double score_ = 0;
};

prepared_stage prepare_ctc_decode(const arguments& given, std::span<const tensor_type> inputs,
                                  diagnostics& out) {
  const shape& steps = inputs[0].shape;
  const bool counted = inputs.size() > 2;
  const bool sound =
      inputs[0].element == dtype::int64 && steps.rank() == 2 &&
      inputs[1] == tensor_type{steps, dtype::float32} &&
      (!counted || (inputs[2].element == dtype::int64 && inputs[2].shape.rank() == 1 &&
                    steps[0] % inputs[2].shape[0] == 0));
  if (!check_inputs(sound, given, inputs,
                    "cpu.ctc_decode reads classes int64 [N, T], their probabilities float32 "
                    "[N, T], both from a stage arg_max, and optionally how many int64 [B] with N "
                    "divisible by B",
                    out)) {
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
  const auto longest = std::ranges::max(characters, {}, &std::string::size).size();
  return prepared_moves(
      inputs,
      {{{steps[0], steps[1] * static_cast<std::int64_t>(longest)}, dtype::uint8},
       {{steps[0]}, dtype::float32}},
      [file = given.text("characters"), characters, threshold = given.number("score_threshold"),
       each = counted ? steps[0] / inputs[2].shape[0] : steps[0]](const stage_config&) {
        return std::make_unique<ctc_decode>(file, characters, threshold, each);
      });
}

}  // namespace

stage_kind ctc_decode_kind() {
  stage_kind kind = kind_named(
      "cpu.ctc_decode", "Decode texts from class scores (connectionist temporal classification)");
  kind.inputs = {{"classes",
                  "int64 [N, T], the most probable at each of T steps, as from a stage arg_max; "
                  "class 0 is the blank",
                  true},
                 {"probabilities", "float32 [N, T], of these classes", true},
                 {"count", "int64 [B]: how many of each N / B rows to read; without it all"}};
  kind.optional_inputs = 1;
  kind.outputs = {
      {"text", "uint8 [N, bytes]: texts in UTF-8, each followed by zeros", true},
      {"score", "float32 [N], mean probability of a text's characters; 0 without any", true}};
  kind.parameters = {
      {.name = "characters",
       .type = parameter_type::path,
       .help = "Text file whose first line is class 1, and so on.",
       .required = true},
      {.name = "score_threshold",
       .type = parameter_type::number,
       .help = "Texts with lower scores become empty.",
       .default_value = "0",
       .minimum = 0,
       .maximum = 1},
  };
  kind.prepare = prepare_ctc_decode;
  return kind;
}

}  // namespace graphline
