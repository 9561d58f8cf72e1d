#include "tests/report/random_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_fields.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline::samples {

namespace {

/// Range of fields without one.
constexpr number_range any_number{0, 0x1p62, ""};

/// Fills fields with random values within their ranges.
class drawing : public record_counts {
 public:
  drawing(std::uint64_t seed, std::size_t members, std::size_t frames_of_each)
      : record_counts{frames_of_each}, generator_(seed), members_(members) {}

  template <class T>
  void value(std::string_view, T& item, const number_range& in = any_number) {
    draw(item, in);
  }
  template <class T>
  void value(std::string_view, std::optional<T>& item, const number_range& in = any_number) {
    if (coin() && in.least <= in.most) draw(item.emplace(), in);
  }
  template <class T>
  void column(std::string_view, std::vector<T>& list, const number_range& in = any_number) {
    if (coin() || in.least > in.most) return;
    list.resize(frames);
    for (auto& item : list) draw(item, in);
  }
  void busy(std::string_view, std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>& device) {
    if (coin()) return;
    for (const auto& stamps : device) list.push_back(whole(0, stamps.length()));
  }
  void batches(std::string_view, std::vector<batch_record>& list, std::size_t all) {
    if (coin()) return;
    for (std::size_t held = 0; held < all; held += static_cast<std::size_t>(list.back().frames)) {
      list.push_back({static_cast<std::int32_t>(1 + below(all - held)), time()});
    }
  }
  void type(tensor_type& of) {
    std::vector<std::int64_t> extents(below(4));
    for (auto& extent : extents) extent = whole(0, 1000);
    of = {shape(extents), static_cast<dtype>(below(7))};
  }

  template <class T>
  void draw(T& item, const number_range& in) {
    if constexpr (part_of_a_record<T>) {
      fields(*this, item);
    } else if constexpr (std::is_enum_v<T>) {
      item = words_of<T>::table[below(std::size(words_of<T>::table))].second;
    } else if constexpr (std::same_as<T, stream_choice>) {
      if (coin()) item.at_most = whole(1, 64);
      if (item.at_most == 0) draw(item.rule, in);
    } else if constexpr (std::same_as<T, bool>) {
      item = coin();
    } else if constexpr (std::integral<T>) {
      const auto most = std::min({in.most, 0x1p62, sizeof(T) < 8 ? 500 : 0x1p62});
      item = static_cast<T>(
          whole(static_cast<std::int64_t>(in.least), static_cast<std::int64_t>(most)));
    } else if constexpr (std::same_as<T, double>) {
      item = in.most == any_number.most ? number() : std::clamp(number(), in.least, in.most);
    } else {
      item = text();
    }
  }
  void draw(std::pair<std::string, std::string>& item, const number_range&) {
    item = {text(), text()};
  }
  void draw(stamp_pair& item, const number_range&) {
    item.begin = time();
    item.end = whole(item.begin, 1LL << 52);
  }
  void draw(std::vector<frame_record>& list, const number_range&) {
    for (std::size_t i = 0; i < frames; ++i) {
      nanoseconds at[] = {time(), time(), time()};
      std::sort(std::begin(at), std::end(at));
      list.push_back({at[0], at[1], at[2]});
    }
  }
  template <class T>
  void draw(std::vector<T>& list, const number_range& in) {
    if (in.least > in.most) return;
    if constexpr (std::same_as<T, graph_node>) nodes = 0;
    const auto count = std::same_as<T, run_record> ? members_ : below(4);
    if constexpr (std::same_as<T, stage_record>) all_stages = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::same_as<T, wait_record> && stages == 0) return;
      T item{};
      draw(item, in);
      list.push_back(std::move(item));
      if constexpr (std::same_as<T, stage_record>) stages = list.size();
      if constexpr (std::same_as<T, graph_node>) nodes = list.size();
    }
  }
  void draw(stage_record& item, const number_range&) {
    fields(*this, item);
    std::int64_t before = 0;
    for (auto& bucket : item.buckets) before = bucket.rows = before + 1 + bucket.rows % 1000;
    if (before > 0) item.capacity = before;
  }
  void draw(run_record& item, const number_range&) {
    stages = nodes = 0;
    fields(*this, item);
    if (!item.outputs.empty()) item.outputs[0].values = unusual_;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(generator_() % n); }
  bool coin() { return below(2) == 0; }
  nanoseconds time() { return whole(-(1LL << 52), 1LL << 52); }

  /// A whole number of any magnitude.
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    const auto range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    const auto drawn = generator_() >> below(64);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + drawn % (range + 1));
  }
  double number() {
    const auto value = std::bit_cast<double>(generator_());
    return std::isfinite(value) ? value : 0.5;
  }
  std::string text() {
    constexpr const char* pieces[] = {"a",    "\"", "\\",   "\n",   "\t",
                                      "\x01", "ü",  "画像", "🙂", ": ["};
    std::string result;
    for (std::size_t n = below(6); n > 0; --n) result += pieces[below(std::size(pieces))];
    return result;
  }

  static constexpr double infinite_ = std::numeric_limits<double>::infinity();
  const std::vector<double> unusual_ = {0.0,
                                        1e22,
                                        5e-324,
                                        std::numeric_limits<double>::max(),
                                        infinite_,
                                        -infinite_,
                                        std::numeric_limits<double>::quiet_NaN()};
  std::mt19937_64 generator_;
  std::size_t members_;
};

std::string text_of(const trial_record& trial) {
  return json_line(part_json(trial));
}

}  // namespace

trial_record random_trial(std::uint64_t seed, std::size_t members, std::size_t frames) {
  trial_record trial;
  drawing(seed, members, frames).draw(trial, any_number);
  trial.configuration %= 100;
  trial.block %= 100;
  return trial;
}

void expect_same(const trial_record& a, const trial_record& b) {
  EXPECT_TRUE(text_of(a) == text_of(b)) << text_of(a) << "\nis not\n" << text_of(b);
}

}  // namespace graphline::samples
