#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// An Einsum equation with a label for each dimension of inputs and output: its letter or, for a
/// dimension of an ellipsis, its number from the last one on, which is below the codes of letters.
struct einsum_form {
  std::vector<std::string> inputs;
  std::string output;
  std::map<char, std::int64_t> extents;  ///< by label
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the labels of one term. Its ellipsis stands for `hidden` dimensions.
std::string labels_of(const onnx_call& call, std::string_view term, std::size_t hidden) {
  const std::size_t dots = term.find("...");
  std::string labels(term.substr(0, dots));
  const std::string after(dots == term.npos ? "" : term.substr(dots + 3));
  call.require(std::ranges::all_of(labels + after, is_letter),
               "has an equation with characters other than letters");
  for (std::size_t k = dots == term.npos ? 0 : hidden; k > 0; --k) labels += static_cast<char>(k);
  return labels + after;
}

/// Returns the output of an equation without an arrow: the dimensions of the ellipsis, then the
/// labels that occur once, in alphabetical order.
std::string implied_output(const std::vector<std::string>& inputs) {
  const std::string all = fmt::to_string(fmt::join(inputs, ""));
  std::string hidden;
  std::string letters;
  for (const char label : std::set<char>(all.begin(), all.end())) {
    if (!is_letter(label)) hidden.insert(hidden.begin(), label);
    if (is_letter(label) && std::ranges::count(all, label) == 1) letters += label;
  }
  return hidden + letters;
}

einsum_form einsum_of(const onnx_call& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string_view terms = std::string_view(equation).substr(0, arrow);
  const auto commas = static_cast<std::size_t>(std::ranges::count(terms, ','));
  call.require(commas + 1 == call.inputs(), "needs one term per input");
  einsum_form form;
  std::size_t most_hidden = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const std::string_view term = terms.substr(0, terms.find(','));
    terms.remove_prefix(std::min(term.size() + 1, terms.size()));
    const shape& extents = call.extents(i);
    const std::size_t letters = term.size() - (term.find("...") != term.npos ? 3 : 0);
    call.require(letters <= extents.rank(), "has a term of more dimensions than its input");
    const std::size_t hidden = extents.rank() - letters;
    most_hidden = std::max(most_hidden, hidden);
    form.inputs.push_back(labels_of(call, term, hidden));
    call.require(form.inputs.back().size() == extents.rank(),
                 "has a term of other dimensions than its input");
    for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
      const auto known = form.extents.try_emplace(form.inputs.back()[axis], extents[axis]);
      call.require(known.first->second == extents[axis],
                   "has a letter for dimensions of different extents, which is not supported");
    }
  }
  form.output = arrow == equation.npos
                    ? implied_output(form.inputs)
                    : labels_of(call, std::string_view(equation).substr(arrow + 2), most_hidden);
  call.require(
      std::set<char>(form.output.begin(), form.output.end()).size() == form.output.size() &&
          std::ranges::all_of(form.output, [&](char each) { return form.extents.contains(each); }),
      "gives a letter twice, or one that its inputs lack");
  return form;
}

struct labeled_value {
  std::size_t value = 0;
  std::string dimensions;
};

std::size_t ordered(onnx_importer& to, const labeled_value& of, const std::string& wanted) {
  if (of.dimensions == wanted) return of.value;
  std::vector<std::size_t> order;
  for (const char label : wanted) order.push_back(of.dimensions.find(label));
  return to.add(transpose_layer{std::move(order)}, {of.value});
}

/// Replaces dimensions with the same label by their diagonal, as the last dimension.
labeled_value with_diagonals(onnx_importer& to, labeled_value of) {
  for (std::size_t axis = 0; axis < of.dimensions.size();) {
    const char label = of.dimensions[axis];
    const std::size_t twin = of.dimensions.find(label, axis + 1);
    if (twin == of.dimensions.npos) {
      ++axis;
      continue;
    }
    std::string left = of.dimensions;
    left.erase(twin, 1).erase(axis, 1);
    of.dimensions[twin] = '\0';  // tells it from the first one
    const std::size_t matrices = ordered(to, of, left + label + '\0');
    std::vector<std::int64_t> extents = to.shape_of(matrices).extents();
    const std::int64_t extent = extents.back();
    extents.pop_back();
    std::vector<std::int64_t> diagonal;
    for (std::int64_t i = 0; i < extent; ++i) diagonal.push_back(i * (extent + 1));
    const std::int64_t count = to.shape_of(matrices).elements() / extent / extent;
    const std::size_t rows = to.add_reshape(matrices, {count, extent * extent});
    const std::size_t diagonals = to.add_selection(rows, {{1, std::move(diagonal)}});
    of = {to.add_reshape(diagonals, shape(std::move(extents))), left + label};
  }
  return of;
}

/// Sums over the dimensions whose labels are not in `kept`.
labeled_value summed(onnx_importer& to, const labeled_value& of, const std::string& kept) {
  std::vector<std::size_t> axes;
  std::string left;
  for (std::size_t axis = 0; axis < of.dimensions.size(); ++axis) {
    const char label = of.dimensions[axis];
    if (kept.find(label) == kept.npos) {
      axes.push_back(axis);
    } else {
      left += label;
    }
  }
  if (axes.empty()) return of;
  return {to.add(reduce_layer{reduce_layer::reduction::sum, axes, false}, {of.value}), left};
}

/// Multiplies two values by a matrix product. Sums over their common labels that are not in
/// `needed`.
labeled_value multiplied(onnx_importer& to, const einsum_form& form, labeled_value a,
                         labeled_value b, const std::string& needed) {
  a = summed(to, a, b.dimensions + needed);
  b = summed(to, b, a.dimensions + needed);
  std::string batch, inner, rows, columns;
  for (const char label : a.dimensions) {
    const bool both = b.dimensions.find(label) != b.dimensions.npos;
    (!both ? rows : needed.find(label) != needed.npos ? batch : inner) += label;
  }
  for (const char label : b.dimensions) {
    if (a.dimensions.find(label) == a.dimensions.npos) columns += label;
  }
  const auto size = [&](const std::string& of) {
    std::int64_t product = 1;
    for (const char label : of) product *= form.extents.at(label);
    return product;
  };
  const std::size_t left =
      to.add_reshape(ordered(to, a, batch + rows + inner), {size(batch), size(rows), size(inner)});
  const std::size_t right = to.add_reshape(ordered(to, b, batch + inner + columns),
                                           {size(batch), size(inner), size(columns)});
  const std::string given = batch + rows + columns;
  std::vector<std::int64_t> extents;
  for (const char label : given) extents.push_back(form.extents.at(label));
  const std::size_t product = to.add(matmul_layer{}, {left, right});
  return {to.add_reshape(product, shape(std::move(extents))), given};
}

}  // namespace

std::size_t import_einsum(onnx_importer& to, const onnx_call& node) {
  const einsum_form form = einsum_of(node);
  labeled_value result = with_diagonals(to, {to.value(0), form.inputs[0]});
  for (std::size_t i = 1; i < form.inputs.size(); ++i) {
    std::string needed = form.output;
    for (std::size_t k = i + 1; k < form.inputs.size(); ++k) needed += form.inputs[k];
    const labeled_value next = with_diagonals(to, {to.value(i), form.inputs[i]});
    result = multiplied(to, form, result, next, needed);
  }
  return ordered(to, summed(to, result, form.output), form.output);
}

}  // namespace graphline::nn::onnx
