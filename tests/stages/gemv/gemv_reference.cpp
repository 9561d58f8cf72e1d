#include "tests/stages/gemv/gemv_reference.hpp"

namespace graphline::test {

namespace {

/// Where the last two dimensions of an operand begin, for the entry of `of` that `index` counts.
std::int64_t offset_in(const shape& operand, const shape& of, std::int64_t index) {
  std::int64_t stride = operand[operand.rank() - 1] * operand[operand.rank() - 2];
  std::int64_t offset = 0;
  std::size_t axis = operand.rank() - 2;
  for (std::size_t i = of.rank() - 2; i-- > 0 && axis > 0;) {
    --axis;
    if (operand[axis] > 1) offset += index % of[i] * stride;
    index /= of[i];
    stride *= operand[axis];
  }
  return offset;
}

}  // namespace

std::vector<gemv_case> gemv_cases() {
  std::vector<gemv_case> cases = {
      {{6, 20, 8, 1, 64}, {6, 1, 8, 64, 1}, {6, 20, 8, 1, 1}},
      {{3, 5, 2, 4, 24}, {3, 1, 2, 24, 1}, {3, 5, 2, 4, 1}},
      {{4, 1, 7, 5}, {1, 3, 5, 1}, {4, 3, 7, 1}},
      {{1, 9, 33}, {5, 33, 1}, {5, 9, 1}},
      {{7, 5}, {2, 3, 5, 1}, {2, 3, 7, 1}},
      {{2, 3, 1, 2, 1, 3, 17}, {1, 3, 2, 1, 4, 17, 1}, {2, 3, 2, 2, 4, 3, 1}},
      {{1, 1}, {1, 1}, {1, 1}},
      {{1, 200000}, {200000, 1}, {1, 1}},
      {{3, 2, 65541}, {3, 65541, 1}, {3, 2, 1}},
      {{5, 4100}, {4100, 1}, {5, 1}},
      {{3000, 13}, {13, 1}, {3000, 1}}};
  for (const std::int64_t k :
       {1, 2, 3, 7, 8, 9, 16, 17, 24, 31, 33, 64, 80, 100, 127, 128, 129, 1000}) {
    for (const std::int64_t m : {1, 2, 3, 4, 5, 9}) {
      cases.push_back({{m, k}, {k, 1}, {m, 1}});
      cases.push_back({{5, m, k}, {5, k, 1}, {5, m, 1}});
      cases.push_back({{2, 1, 3, m, k}, {1, 7, 1, k, 1}, {2, 7, 3, m, 1}});
    }
  }
  return cases;
}

std::vector<float> gemv_reference(const gemv_case& wanted, const std::vector<float>& a,
                                  const std::vector<float>& x) {
  const std::int64_t m = wanted.a[wanted.a.rank() - 2];
  const std::int64_t k = wanted.a[wanted.a.rank() - 1];
  std::vector<float> y;
  for (std::int64_t index = 0; index < wanted.y.elements() / m; ++index) {
    const std::int64_t rows = offset_in(wanted.a, wanted.y, index);
    const std::int64_t vector = offset_in(wanted.x, wanted.y, index);
    for (std::int64_t row = 0; row < m; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < k; ++j) {
        sum += static_cast<double>(a[static_cast<std::size_t>(rows + row * k + j)]) *
               static_cast<double>(x[static_cast<std::size_t>(vector + j)]);
      }
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

}  // namespace graphline::test
