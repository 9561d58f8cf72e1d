// Copies of report data, with each of their allocations failing.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/report/document.hpp"

namespace {
long left = -1;  // allocations until one fails; negative: none fails
}

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace graphline {
namespace {

/// Makes each allocation of `copy` fail once; returns their number.
template <class Copy>
long allocations_of(Copy copy) {
  for (long n = 0;; ++n) {
    left = n;
    try {
      copy();
      left = -1;
      return n;
    } catch (const std::bad_alloc&) {
      left = -1;
    }
  }
}

const std::string long_text(100, 'x');

TEST(copies, of_findings_free_nothing_twice) {
  finding whole{"key", finding_severity::note, {long_text}};
  whole.with("number", quantity{1, unit::none}).with("text", long_text);
  whole.with("list", std::vector<std::string>{long_text, long_text});
  whole.with("items", finding_items{{{long_text, long_text, {1, unit::none}}}});
  whole.cases = {whole, whole};
  EXPECT_GT(allocations_of([&] { std::vector<finding>{whole}; }), 20);
}

TEST(copies, of_named_values_free_nothing_twice) {
  const std::vector<report::named_value> values = {{long_text, long_text}, {long_text, true}};
  EXPECT_GT(allocations_of([&] { report::cell{values}; }), 3);
  EXPECT_GT(allocations_of([&] { report::cell{values.front()}; }), 0);
}

}  // namespace
}  // namespace graphline
