#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

// Inlined into functions that are compiled for more than the CPU that the project is built for.
#define GRAPHLINE_INLINE inline __attribute__((always_inline))

namespace graphline {

/// As many sums at once as a register of the instructions has room for: 4 or 8.
template <int width>
struct vectors {
  typedef float lanes __attribute__((vector_size(4 * width)));
  typedef std::int32_t bits __attribute__((vector_size(4 * width)));
};
using four_lanes = vectors<4>::lanes;

/// Rows whose sums are made together.
constexpr int rows_at_once = 4;

/// How far ahead rows are asked for. What is done between two loads keeps a core from reading as
/// far ahead by itself as it does in a loop that only reads.
constexpr std::int64_t elements_ahead = 2048;

/// From here on a row is long enough for several sums of its own.
constexpr std::int64_t long_row = 128;

/// From here on a vector does not stay in a core's first cache beside the rows.
constexpr std::int64_t very_long_row = 4096;

/// Registers that a short row fills at most for its vector to stay in others.
constexpr int most_kept = 4;

/// Where the rows and the vectors of an operation end.
struct operand_ends {
  const float* a;
  const float* x;
};

/// What neighboring rows have in common: `extent` elements, `a` and `x` apart from each other.
struct row_run {
  std::int64_t extent;
  std::int64_t a;
  std::int64_t x;
};

// Vectors are handed on by reference: how they are passed by value depends on the instructions.
template <class lanes>
GRAPHLINE_INLINE void load(const float* from, lanes& to) {
  std::memcpy(&to, from, sizeof to);
}

/// Asks for what lies ahead of register `j` of a row, once for each line of a cache.
template <int width>
GRAPHLINE_INLINE void ask_ahead(const float* from, int j) {
  constexpr int line = 16;
  if (j * width % line == 0) __builtin_prefetch(from + j * width + elements_ahead);
}

/// Copies the last few elements of an operand to where zeros follow.
[[gnu::noinline]] inline const float* padded(const float* from, std::int64_t count,
                                             float (&to)[8]) {
  for (std::int64_t i = 0; i < 8; ++i) to[i] = i < count ? from[i] : 0.0F;
  return to;
}

/// The first of the lanes, whose bits `kept` has; zeros in the others. What lies behind the first
/// is read where that is not beyond the `end` of the operand.
template <int width>
GRAPHLINE_INLINE void load_first(const float* from, std::int64_t count,
                                 const typename vectors<width>::bits& kept, const float* end,
                                 typename vectors<width>::lanes& to) {
  float copy[8];
  if (end - from < width) from = padded(from, count, copy);
  load(from, to);
  to = reinterpret_cast<typename vectors<width>::lanes>(
      reinterpret_cast<typename vectors<width>::bits>(to) & kept);
}

/// Adds lanes up until four are left.
template <int width>
GRAPHLINE_INLINE void fold(const typename vectors<width>::lanes& from, four_lanes& to) {
  if constexpr (width == 4) {
    to = from;
  } else {
    to = __builtin_shufflevector(from, from, 0, 1, 2, 3) +
         __builtin_shufflevector(from, from, 4, 5, 6, 7);
  }
}

/// The sum of each row's lanes, one beside the other.
template <int width>
GRAPHLINE_INLINE void sum_lanes(const typename vectors<width>::lanes (&sums)[rows_at_once],
                                four_lanes& to) {
  four_lanes folded[rows_at_once];
  for (int row = 0; row < rows_at_once; ++row) fold<width>(sums[row], folded[row]);
  const four_lanes first = __builtin_shufflevector(folded[0], folded[1], 0, 4, 1, 5) +
                           __builtin_shufflevector(folded[0], folded[1], 2, 6, 3, 7);
  const four_lanes second = __builtin_shufflevector(folded[2], folded[3], 0, 4, 1, 5) +
                            __builtin_shufflevector(folded[2], folded[3], 2, 6, 3, 7);
  to = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
       __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

/// The products of a row, in `width` sums. With `length` the row is known to have as many elements;
/// with `ask` what lies ahead is asked for.
template <int width, int length, bool ask = true>
GRAPHLINE_INLINE void add_products(std::int64_t extent, const float* a, const float* x,
                                   const operand_ends& ends,
                                   const typename vectors<width>::bits& kept,
                                   typename vectors<width>::lanes& sum) {
  typename vectors<width>::lanes values;
  typename vectors<width>::lanes factors;
  const std::int64_t whole = length > 0 ? length : extent - extent % width;
  for (std::int64_t j = 0; j < whole; j += width) {
    if constexpr (ask) __builtin_prefetch(a + j + elements_ahead);
    load(a + j, values);
    load(x + j, factors);
    sum += values * factors;
  }
  if (length == 0 && whole < extent) {
    if constexpr (ask) __builtin_prefetch(a + whole + elements_ahead);
    load_first<width>(a + whole, extent - whole, kept, ends.a, values);
    load_first<width>(x + whole, extent - whole, kept, ends.x, factors);
    sum += values * factors;
  }
}

/// The sums of neighboring rows. Where there are fewer left than are summed together the last is
/// repeated: so a row's sum does not depend on which others are summed with it.
template <int width, int length>
GRAPHLINE_INLINE void sum_short_rows(const row_run& run, const float* a, const float* x,
                                     const operand_ends& ends,
                                     const typename vectors<width>::bits& kept, std::int64_t count,
                                     float* to) {
  for (std::int64_t i = 0; i < count; i += rows_at_once) {
    const std::int64_t left = std::min<std::int64_t>(rows_at_once, count - i);
    typename vectors<width>::lanes sums[rows_at_once] = {};
#pragma GCC unroll 4
    for (int row = 0; row < rows_at_once; ++row) {
      const std::int64_t which = i + std::min<std::int64_t>(row, left - 1);
      add_products<width, length>(run.extent, a + which * run.a, x + which * run.x, ends, kept,
                                  sums[row]);
    }
    four_lanes result;
    sum_lanes<width>(sums, result);
    if (left == rows_at_once) {
      std::memcpy(to + i, &result, sizeof result);
    } else {
      for (std::int64_t row = 0; row < left; ++row) to[i + row] = result[row];
    }
  }
}

/// The sums of rows that lie far apart: `count` neighbors from each of four places on, one row of
/// each place after the other. A core that follows several rows of addresses waits less at the
/// beginning of each page than one that follows a single row.
template <int width, int length>
GRAPHLINE_INLINE void sum_rows_apart(const row_run& run, const float* const (&a)[rows_at_once],
                                     const float* const (&x)[rows_at_once],
                                     const operand_ends& ends,
                                     const typename vectors<width>::bits& kept, std::int64_t count,
                                     float* const (&to)[rows_at_once]) {
  for (std::int64_t i = 0; i < count; ++i) {
    typename vectors<width>::lanes sums[rows_at_once] = {};
#pragma GCC unroll 4
    for (int row = 0; row < rows_at_once; ++row) {
      add_products<width, length, false>(run.extent, a[row] + i * run.a, x[row] + i * run.x, ends,
                                         kept, sums[row]);
    }
    four_lanes result;
    sum_lanes<width>(sums, result);
    for (int row = 0; row < rows_at_once; ++row) to[row][i] = result[row];
  }
}

/// The same of rows of `registers` with one vector for all of them, which stays in registers. Those
/// at the end whose last register is not all in the operand are left out: how many were summed.
template <int width, int registers>
GRAPHLINE_INLINE std::int64_t sum_rows_of_one_vector(const row_run& run, const float* a,
                                                     const float* x, const operand_ends& ends,
                                                     const typename vectors<width>::bits& kept,
                                                     std::int64_t count, float* to) {
  using lanes = typename vectors<width>::lanes;
  using bits = typename vectors<width>::bits;
  constexpr std::int64_t last = (registers - 1) * width;
  lanes factors[registers];
  for (int j = 0; j < registers - 1; ++j) load(x + j * width, factors[j]);
  load_first<width>(x + last, run.extent - last, kept, ends.x, factors[registers - 1]);
  std::int64_t i = 0;
  for (; i + rows_at_once <= count; i += rows_at_once) {
    if (ends.a - (a + (rows_at_once - 1) * run.a) < registers * width) break;
    lanes sums[rows_at_once] = {};
#pragma GCC unroll 4
    for (int row = 0; row < rows_at_once; ++row, a += run.a) {
#pragma GCC unroll 4
      for (int j = 0; j < registers; ++j) {
        lanes values;
        ask_ahead<width>(a, j);
        load(a + j * width, values);
        if (j == registers - 1) {
          values = reinterpret_cast<lanes>(reinterpret_cast<bits>(values) & kept);
        }
        sums[row] += values * factors[j];
      }
    }
    four_lanes result;
    sum_lanes<width>(sums, result);
    std::memcpy(to + i, &result, sizeof result);
  }
  return i;
}

/// The sums of rows that are long, as many as `together`, with one vector, which is read once.
template <int width, int together>
GRAPHLINE_INLINE void sum_long_rows(const row_run& run, const float* a, const float* x,
                                    const operand_ends& ends,
                                    const typename vectors<width>::bits& kept, float* to) {
  constexpr std::int64_t at_once = rows_at_once * width;
  typename vectors<width>::lanes sums[together][rows_at_once] = {};
  const std::int64_t whole = run.extent - run.extent % at_once;
  for (std::int64_t j = 0; j < whole; j += at_once) {
#pragma GCC unroll 4
    for (int i = 0; i < rows_at_once; ++i) {
      typename vectors<width>::lanes factors;
      load(x + j + i * width, factors);
      for (int row = 0; row < together; ++row) {
        typename vectors<width>::lanes values;
        ask_ahead<width>(a + row * run.a + j, i);
        load(a + row * run.a + j + i * width, values);
        sums[row][i] += values * factors;
      }
    }
  }
  for (int row = 0; row < together; ++row) {
    add_products<width, 0>(run.extent - whole, a + row * run.a + whole, x + whole, ends, kept,
                           sums[row][0]);
    four_lanes parts;
    sum_lanes<width>(sums[row], parts);
    to[row] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
}

/// As many of the rows as are summed with one vector in registers, if any.
template <int width, int registers = 1>
GRAPHLINE_INLINE std::int64_t sum_first_rows(const row_run& run, const float* a, const float* x,
                                             const operand_ends& ends,
                                             const typename vectors<width>::bits& kept,
                                             std::int64_t count, float* to) {
  if constexpr (registers <= most_kept) {
    if (run.extent <= registers * width) {
      return sum_rows_of_one_vector<width, registers>(run, a, x, ends, kept, count, to);
    }
    return sum_first_rows<width, registers + 1>(run, a, x, ends, kept, count, to);
  } else {
    return 0;
  }
}

/// Which lanes of its last register a row has.
template <int width>
GRAPHLINE_INLINE void keep_last(std::int64_t extent, typename vectors<width>::bits& kept) {
  for (int i = 0; i < width; ++i) kept[i] = i <= (extent - 1) % width ? -1 : 0;
}

/// The sums of `count` neighboring rows. A row's sum is made in the same order of additions in
/// whatever company.
template <int width>
GRAPHLINE_INLINE void sum_run(const row_run& run, const float* a, const float* x,
                              const operand_ends& ends, std::int64_t count, float* to) {
  typename vectors<width>::bits kept;
  keep_last<width>(run.extent, kept);
  std::int64_t done = 0;
  if (run.extent >= long_row) {
    if (run.x == 0 && run.extent >= very_long_row) {
      for (; done + 2 <= count; done += 2) {
        sum_long_rows<width, 2>(run, a + done * run.a, x, ends, kept, to + done);
      }
    }
    for (; done < count; ++done) {
      sum_long_rows<width, 1>(run, a + done * run.a, x + done * run.x, ends, kept, to + done);
    }
  } else if (run.extent == 64) {
    sum_short_rows<width, 64>(run, a, x, ends, kept, count, to);
  } else {
    if (run.x == 0) done = sum_first_rows<width>(run, a, x, ends, kept, count, to);
    sum_short_rows<width, 0>(run, a + done * run.a, x + done * run.x, ends, kept, count - done,
                             to + done);
  }
}

}  // namespace graphline
