#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

// Inlined into functions compiled for instruction sets other than the build's.
#define GRAPHLINE_INLINE inline __attribute__((always_inline))

namespace graphline::nn {

#if defined(__x86_64__)
inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
inline bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
#endif

template <int width>
struct pointwise_vectors {
  typedef float lanes __attribute__((vector_size(4 * width)));
  typedef std::int32_t bits __attribute__((vector_size(4 * width)));
};

/// A function compiled for an instruction set, with vectors of `width` floats.
template <class... Arguments>
struct vector_code {
  std::string_view instructions;  ///< "AVX-512"
  int width = 0;
  void (*run)(Arguments...) = nullptr;
};

/// Compiles `Body::run<width>` for vectors of up to `widest` floats.
template <class Body, int widest, class... Arguments>
class vector_codes {
 public:
  /// Returns the code that this CPU can run, fastest first. The last one runs on any CPU.
  static const std::vector<vector_code<Arguments...>>& supported() {
    static const auto found = [] {
      std::vector<vector_code<Arguments...>> codes;
#if defined(__x86_64__)
      if constexpr (widest >= 16) {
        if (has_avx512()) codes.push_back({"AVX-512", 16, avx512});
      }
      if (has_avx2()) codes.push_back({"AVX2", 8, avx2});
#endif
      codes.push_back({"plain vectors", 4, anywhere});
      return codes;
    }();
    return found;
  }

 private:
  static void anywhere(Arguments... given) {
    Body::template run<4>(given...);
  }
#if defined(__x86_64__)
  __attribute__((target("avx2,fma"))) static void avx2(Arguments... given) {
    Body::template run<8>(given...);
  }
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) static void avx512(
      Arguments... given) {
    Body::template run<16>(given...);
  }
#endif
};

// Functions take vectors by reference, because the ABI for values depends on the instruction set.

/// Functions of float vectors with errors of a few ulp.
template <class lanes, class bits>
struct vector_math {
  static GRAPHLINE_INLINE void select(const bits& mask, const lanes& yes, const lanes& no,
                                      lanes& to) {
    to = mask ? yes : no;
  }

  static GRAPHLINE_INLINE void absolute(const lanes& x, lanes& to) {
    to = reinterpret_cast<lanes>(reinterpret_cast<bits>(x) & 0x7fffffff);
  }

  /// Returns x with the sign of `from`.
  static GRAPHLINE_INLINE void with_sign(const lanes& x, const lanes& from, lanes& to) {
    to = reinterpret_cast<lanes>((reinterpret_cast<bits>(x) & 0x7fffffff) |
                                 (reinterpret_cast<bits>(from) & std::int32_t(0x80000000U)));
  }

  /// Rounds halves to even. Every float of at least 2^23 is an integer.
  static GRAPHLINE_INLINE void nearest(const lanes& x, lanes& to) {
    lanes size;
    absolute(x, size);
    lanes rounded = (size + 8388608.0F) - 8388608.0F;
    with_sign(rounded, x, rounded);
    const bits small = size < 8388608.0F;
    select(small, rounded, x, to);
  }

  /// Floor and ceil correct the nearest integer, which is at most 1/2 away.
  static GRAPHLINE_INLINE void floor(const lanes& x, lanes& to) {
    nearest(x, to);
    const bits above = to > x;
    select(above, to - 1.0F, to, to);
  }
  static GRAPHLINE_INLINE void ceil(const lanes& x, lanes& to) {
    floor(-x, to);
    to = -to;
  }

  static GRAPHLINE_INLINE void truncate(const lanes& x, lanes& to) {
    lanes size;
    absolute(x, size);
    floor(size, to);
    with_sign(to, x, to);
  }

  template <std::size_t count>
  static GRAPHLINE_INLINE void polynomial(const lanes& x, const float (&coefficients)[count],
                                          lanes& to) {
    lanes sum = lanes{} + coefficients[count - 1];
    for (std::size_t i = count - 1; i-- > 0;) sum = sum * x + coefficients[i];
    to = sum;
  }

  /// Computes exp(r) - 1 - r for |r| <= ln 2 / 2 as r^2 P(r), with an error below 4e-9 exp(r). The
  /// coefficients of all polynomials in this file are Graphline's own fits.
  static GRAPHLINE_INLINE void exp_beyond_line(const lanes& r, lanes& to) {
    constexpr float p[] = {0.50000001F, 0.166665189F, 0.041666206F, 0.00836888268F, 0.00139504743F};
    polynomial(r, p, to);
    to = to * r * r;
  }

  /// Splits x = n ln 2 + r into the bits of n and exp(r), with |r| <= ln 2 / 2. Requires |x| <=
  /// 104.
  static GRAPHLINE_INLINE void split_exp(const lanes& x, bits& whole, lanes& to) {
    // The low bits of the sum are n: from 2^23 to 2^24 all floats are integers.
    constexpr float integers = 12582912.0F;
    const lanes sum = x * 1.44269504F + integers;
    const lanes n = sum - integers;
    const lanes r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    exp_beyond_line(r, to);
    to = to + r + 1.0F;
    whole = reinterpret_cast<bits>(sum) - 0x4b400000;  // the bits of 12582912
  }

  /// Computes exp(x) for x in [-87, 88], where the result is a normal number.
  static GRAPHLINE_INLINE void exp_of_normal(const lanes& x, lanes& to) {
    bits whole;
    split_exp(x, whole, to);
    to = reinterpret_cast<lanes>(reinterpret_cast<bits>(to) + (whole << 23));
  }

  static GRAPHLINE_INLINE void exp(const lanes& given, lanes& to) {
    const lanes zero{};
    lanes x = given;
    const bits above = x > 89.0F;
    select(above, zero + 89.0F, x, x);
    const bits below = x < -104.0F;
    select(below, zero - 104.0F, x, x);
    bits whole;
    lanes sum;
    split_exp(x, whole, sum);
    // Scale by 2^half and by 2^rest, because 2^n may exceed the range of exponents.
    const bits half = whole >> 1;
    const bits rest = whole - half;
    to = sum * reinterpret_cast<lanes>((half + 127) << 23) *
         reinterpret_cast<lanes>((rest + 127) << 23);
    const bits number = given == given;
    select(number, to, given, to);
  }

  /// Computes exp(x) - 1 without cancellation near 0.
  static GRAPHLINE_INLINE void exp_minus_one(const lanes& x, lanes& to) {
    lanes near;
    exp_beyond_line(x, near);
    near = near + x;
    lanes far;
    exp(x, far);
    lanes size;
    absolute(x, size);
    const bits small = size < 0.34F;
    select(small, near, far - 1.0F, to);
  }

  /// Computes e ln 2 + m - m^2 / 2 + m^3 P(m) for x = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2).
  static GRAPHLINE_INLINE void log(const lanes& given, lanes& to) {
    constexpr float p[] = {0.333333283F, -0.250010596F, 0.200016155F, -0.166165205F,
                           0.141900152F, -0.132079169F, 0.128548743F, -0.0763107626F};
    // Scale subnormals to normal numbers first.
    const bits tiny = given < 1.17549435e-38F;
    lanes x;
    select(tiny, given * 8388608.0F, given, x);
    const bits raw = reinterpret_cast<bits>(x);
    const bits offset = raw - 0x3f3504f3;  // the bits of sqrt(1/2)
    const bits exponent = offset >> 23;
    const lanes m = reinterpret_cast<lanes>(raw - (exponent << 23)) - 1.0F;
    lanes e = __builtin_convertvector(exponent, lanes);
    select(tiny, e - 23.0F, e, e);
    lanes sum;
    polynomial(m, p, sum);
    sum = sum * m * m * m - 0.5F * m * m;
    to = e * 0.693359375F + (m + (sum - e * 2.12194440e-4F));
    const lanes zero{};
    const bits none = given == 0.0F;
    select(none, zero - std::numeric_limits<float>::infinity(), to, to);
    const bits negative = given < 0.0F;
    select(negative, zero + std::numeric_limits<float>::quiet_NaN(), to, to);
    const bits finite = (given < std::numeric_limits<float>::infinity());
    select(finite, to, given, to);
  }

  /// Computes log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)).
  static GRAPHLINE_INLINE void softplus(const lanes& x, lanes& to) {
    lanes size;
    absolute(x, size);
    lanes power;
    exp(-size, power);
    // log(1 + p) = log(u) p / (u - 1), where u is 1 + p rounded; the quotient cancels the rounding.
    const lanes u = power + 1.0F;
    lanes logarithm;
    log(u, logarithm);
    const lanes difference = u - 1.0F;
    const bits vanished = difference == 0.0F;
    lanes divisor;
    select(vanished, difference + 1.0F, difference, divisor);
    lanes positive;
    const bits above = x > 0.0F;
    select(above, x, lanes{}, positive);
    lanes part;
    select(vanished, power, logarithm * power / divisor, part);
    to = positive + part;
  }

  /// Computes x P(x^2) for |x| <= 0.625, otherwise +-(1 - 2 / (exp(2 |x|) + 1)).
  static GRAPHLINE_INLINE void tanh(const lanes& x, lanes& to) {
    constexpr float p[] = {0.999999996F,   -0.333332634F, 0.133311857F,
                           -0.0537252299F, 0.020603142F,  -0.00567241649F};
    lanes size;
    absolute(x, size);
    lanes near;
    polynomial(x * x, p, near);
    near = near * x;
    lanes far;
    exp(size + size, far);
    far = 1.0F - 2.0F / (far + 1.0F);
    with_sign(far, x, far);
    const bits small = size < 0.625F;
    select(small, near, far, to);
  }

  /// Computes x P(x^2) for |x| <= 1, otherwise +-(1 - exp(-Q(|x|))).
  static GRAPHLINE_INLINE void erf(const lanes& x, lanes& to) {
    constexpr float p[] = {1.12837917F,    -0.376126271F,    0.112836002F,   -0.0268544445F,
                           0.00518953521F, -0.000802084011F, 7.88911562e-05F};
    constexpr float q[] = {-0.000153384152F, 1.12939707F,     0.63362729F,
                           0.107905737F,     -0.0248128208F,  0.00401340967F,
                           -0.000384789605F, 1.23306939e-05F, 6.6276063e-07F};
    lanes size;
    absolute(x, size);
    const bits beyond = size > 4.0F;
    select(beyond, lanes{} + 4.0F, size, size);
    lanes near;
    polynomial(x * x, p, near);
    near = near * x;
    lanes far;
    polynomial(size, q, far);
    exp_of_normal(-far, far);
    far = 1.0F - far;
    with_sign(far, x, far);
    const bits small = size < 1.0F;
    select(small, near, far, to);
    const bits number = x == x;
    select(number, to, x, to);
  }

  static GRAPHLINE_INLINE void between(const lanes& x, float low, float high, lanes& to) {
    const lanes zero{};
    const bits below = x < low;
    select(below, zero + low, x, to);
    const bits above = to > high;
    select(above, zero + high, to, to);
  }

  /// Sets lanes to 1 where the mask is set, otherwise to 0.
  static GRAPHLINE_INLINE void truth(const bits& mask, lanes& to) {
    to = reinterpret_cast<lanes>(mask & 0x3f800000);
  }
};

}  // namespace graphline::nn
