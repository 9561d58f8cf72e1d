#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "stages/nn/onnx/onnx_importer.hpp"

namespace graphline::nn::onnx {
namespace {

/// An Einsum equation with a label for each dimension of inputs and output. Dimensions of an
/// ellipsis get separate labels, numbered from the last dimension.
struct einsum_form {
  using labels = std::vector<int>;
  std::vector<labels> inputs;
  labels output;
  std::map<int, std::int64_t> extents;  ///< by label
};

using labels = einsum_form::labels;

constexpr int first_of_ellipsis = 256;  // above the codes of all letters

/// Returns the labels of one term. Its ellipsis stands for `hidden` dimensions.
labels labels_of(const onnx_call& call, std::string_view term, std::size_t hidden) {
  labels result;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (term.substr(i, 3) == "...") {
      for (std::size_t k = hidden; k-- > 0;) {
        result.push_back(first_of_ellipsis + static_cast<int>(k));
      }
      i += 2;
    } else {
      call.require((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
                   "has an equation with characters other than letters");
      result.push_back(c);
    }
  }
  return result;
}

bool holds(const labels& of, int label) {
  return std::ranges::find(of, label) != of.end();
}

/// Returns the output of an equation without an arrow: the dimensions of the ellipsis, then the
/// labels that occur once, in alphabetical order.
labels implied_output(const std::vector<labels>& inputs) {
  std::map<int, int> counts;
  for (const labels& each : inputs) {
    for (const int label : each) ++counts[label];
  }
  labels hidden;
  labels letters;
  for (const auto& [label, count] : counts) {
    if (label >= first_of_ellipsis) hidden.insert(hidden.begin(), label);
    if (label < first_of_ellipsis && count == 1) letters.push_back(label);
  }
  hidden.insert(hidden.end(), letters.begin(), letters.end());
  return hidden;
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
      std::set<int>(form.output.begin(), form.output.end()).size() == form.output.size() &&
          std::ranges::all_of(form.output, [&](int each) { return form.extents.contains(each); }),
      "gives a letter twice, or one that its inputs lack");
  return form;
}

struct labeled_value {
  std::size_t value = 0;
  labels dimensions;
};

/// Replaces dimensions with the same label by their diagonal, as the last dimension.
labeled_value with_diagonals(onnx_importer& to, labeled_value of) {
  for (std::size_t axis = 0; axis < of.dimensions.size();) {
    const int label = of.dimensions[axis];
    const auto twin = std::find(of.dimensions.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                                of.dimensions.end(), label);
    if (twin == of.dimensions.end()) {
      ++axis;
      continue;
    }
    const auto other = static_cast<std::size_t>(twin - of.dimensions.begin());
    const shape extents = to.shape_of(of.value);
    std::vector<std::size_t> order;
    std::vector<std::int64_t> left;
    labels names;
    for (std::size_t i = 0; i < extents.rank(); ++i) {
      if (i == axis || i == other) continue;
      order.push_back(i);
      left.push_back(extents[i]);
      names.push_back(of.dimensions[i]);
    }
    order.insert(order.end(), {axis, other});
    left.push_back(extents[axis]);
    names.push_back(label);
    std::vector<std::int64_t> diagonal;
    for (std::int64_t i = 0; i < extents[axis]; ++i) diagonal.push_back(i * (extents[axis] + 1));
    const std::int64_t matrix = extents[axis] * extents[axis];
    const std::size_t matrices =
        to.add_reshape(to.add(transpose_layer{std::move(order)}, {of.value}),
                       {extents.elements() / matrix, matrix});
    const std::size_t diagonals = to.add_selection(matrices, {{1, std::move(diagonal)}});
    of = {to.add_reshape(diagonals, shape(std::move(left))), std::move(names)};
  }
  return of;
}

/// Sums over the dimensions whose labels are not in `kept`.
labeled_value summed(onnx_importer& to, const labeled_value& of, const std::set<int>& kept) {
  std::vector<std::size_t> axes;
  labels left;
  for (std::size_t axis = 0; axis < of.dimensions.size(); ++axis) {
    if (kept.contains(of.dimensions[axis])) {
      left.push_back(of.dimensions[axis]);
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) return of;
  return {to.add(reduce_layer{reduce_layer::reduction::sum, axes, false}, {of.value}), left};
}

std::size_t ordered(onnx_importer& to, const labeled_value& of, const labels& wanted) {
  if (of.dimensions == wanted) return of.value;
  std::vector<std::size_t> order;
  for (const int label : wanted) {
    const auto at = std::ranges::find(of.dimensions, label) - of.dimensions.begin();
    order.push_back(static_cast<std::size_t>(at));
  }
  return to.add(transpose_layer{std::move(order)}, {of.value});
}

labels joined(const labels& a, const labels& b, const labels& c) {
  labels result = a;
  result.insert(result.end(), b.begin(), b.end());
  result.insert(result.end(), c.begin(), c.end());
  return result;
}

/// Multiplies two values by a matrix product. Sums over their common labels that are not in
/// `needed`.
labeled_value multiplied(onnx_importer& to, const einsum_form& form, labeled_value a,
                         labeled_value b, const std::set<int>& needed) {
  const auto kept_of = [&](const labeled_value& one, const labeled_value& other) {
    std::set<int> kept(other.dimensions.begin(), other.dimensions.end());
    kept.insert(needed.begin(), needed.end());
    return summed(to, one, kept);
  };
  a = kept_of(a, b);
  b = kept_of(b, a);
  labels batch, inner, rows, columns;
  for (const int label : a.dimensions) {
    const bool both = holds(b.dimensions, label);
    (!both ? rows : needed.contains(label) ? batch : inner).push_back(label);
  }
  for (const int label : b.dimensions) {
    if (!holds(a.dimensions, label)) columns.push_back(label);
  }
  const auto size = [&](const labels& of) {
    std::int64_t product = 1;
    for (const int label : of) product *= form.extents.at(label);
    return product;
  };
  const std::size_t left = to.add_reshape(ordered(to, a, joined(batch, rows, inner)),
                                          {size(batch), size(rows), size(inner)});
  const std::size_t right = to.add_reshape(ordered(to, b, joined(batch, inner, columns)),
                                           {size(batch), size(inner), size(columns)});
  const labels given = joined(batch, rows, columns);
  std::vector<std::int64_t> extents;
  for (const int label : given) extents.push_back(form.extents.at(label));
  const std::size_t product = to.add(matmul_layer{}, {left, right});
  return {to.add_reshape(product, shape(std::move(extents))), given};
}

std::size_t import_einsum(onnx_importer& to, const onnx_call& node) {
  const einsum_form form = einsum_of(node);
  labeled_value result = with_diagonals(to, {to.value(0), form.inputs[0]});
  for (std::size_t i = 1; i < form.inputs.size(); ++i) {
    std::set<int> needed(form.output.begin(), form.output.end());
    for (std::size_t k = i + 1; k < form.inputs.size(); ++k) {
      needed.insert(form.inputs[k].begin(), form.inputs[k].end());
    }
    result =
        multiplied(to, form, result, with_diagonals(to, {to.value(i), form.inputs[i]}), needed);
  }
  result = summed(to, result, std::set<int>(form.output.begin(), form.output.end()));
  return ordered(to, result, form.output);
}

}  // namespace

onnx_operators imported_einsum() {
  return {{"Einsum", one_output(import_einsum)}};
}

}  // namespace graphline::nn::onnx
