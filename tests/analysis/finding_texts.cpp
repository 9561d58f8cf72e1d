#include "tests/analysis/finding_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "framework/analysis/analyze.hpp"
#include "tests/analysis/made_experiments.hpp"

namespace graphline::samples {

namespace {

struct figure_text {
  std::string operator()(const quantity& number) const { return to_text(number); }
  std::string operator()(const std::string& words) const { return words; }
  std::string operator()(const std::vector<std::string>& list) const {
    return fmt::format("{}", fmt::join(list, "; "));
  }
  std::string operator()(const finding_items& items) const {
    std::vector<std::string> texts;
    for (const auto& [what, subject, amount, part] : items) {
      texts.push_back(fmt::format("{}/{}/{}/{}", to_text(amount), to_text({*part, unit::share}),
                                  what, subject));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
};

std::string text_of(const finding& of) {
  std::string text(of.key);
  if (!of.subjects.empty()) text += fmt::format("({})", fmt::join(of.subjects, ", "));
  for (const auto& [name, value] : of.figures) {
    text += fmt::format(" {}={}", name, std::visit(figure_text(), value));
  }
  for (const auto& one : of.cases) text += fmt::format(" [{}]", text_of(one));
  return text;
}

}  // namespace

std::vector<std::string> texts_of(const std::vector<finding>& list) {
  std::vector<std::string> texts;
  for (const auto& one : list) texts.push_back(text_of(one));
  return texts;
}

std::vector<std::string> findings(const experiment_record& record,
                                  const experiment_summary& summary) {
  return texts_of(analyze(record, summary).findings);
}

std::vector<std::string> findings(const experiment_record& record) {
  return findings(record, figures_of(record));
}

std::vector<std::string_view> keys(const std::vector<finding>& list) {
  std::vector<std::string_view> found;
  for (const auto& one : list) found.push_back(one.key);
  return found;
}

double figure_of(const finding& of, std::string_view name) {
  return std::get<quantity>(*of.find(name)).value;
}

}  // namespace graphline::samples
