#include "stages/spinning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/machine_state.hpp"
#include "framework/base/random.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr double a_century = 3e18;

/// Reads a text file with one duration per line; skips empty lines and comments (#).
std::vector<nanoseconds> read_durations(const std::string& path) {
  constexpr std::size_t largest = std::size_t{16} << 20;
  const auto source = read_text_file(path, largest);
  std::vector<nanoseconds> durations;
  std::string_view rest = source->text();
  for (int line = 1; !rest.empty(); ++line) {
    std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    text = text.substr(0, text.find('#'));
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    const std::size_t before = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(before);
    if (text.empty()) continue;
    const auto duration = parse_duration(text);
    if (!duration) {
      // Does not quote the line: the path may name the wrong file, perhaps one with secrets.
      throw input_error(
          fmt::format("{}:{}:{}: expected a duration with its unit{}", path, line, before + 1,
                      parse_nanoseconds(text) ? " below 292 years" : ", such as 12.5ms"));
    }
    durations.push_back(*duration);
  }
  if (durations.empty()) throw input_error(fmt::format("{}: no duration in it", path));
  return durations;
}

}  // namespace

void spin_wall_time(nanoseconds time) noexcept {
  const nanoseconds end = now() + time;
  while (now() < end) {
  }
}

void spin_cpu_time(nanoseconds time) noexcept {
  // A thread's CPU time never exceeds wall time. The loop therefore spins on the wall clock, which
  // is cheap to read, and reads the CPU time, a system call, only afterwards.
  const nanoseconds end = thread_processor_time() + time;
  for (nanoseconds left = time; left > 0; left = end - thread_processor_time()) {
    spin_wall_time(left);
  }
}

std::vector<parameter> spin_duration_parameters() {
  return {{.name = "duration",
           .type = parameter_type::duration,
           .help = "How long it takes, on average where there is a distribution; 0ms makes a stage "
                   "that does nothing.",
           .minimum = 0},
          {.name = "distribution",
           .type = parameter_type::choice,
           .help = "How it varies from frame to frame around the mean 'duration'; the draws depend "
                   "on the seed, the stage's name and the frame alone.",
           .default_value = "constant",
           .choices = {"constant", "uniform", "normal", "exponential", "lognormal"}},
          {.name = "stddev",
           .type = parameter_type::duration,
           .help = "Standard deviation of a uniform, normal (draws below 0 count as 0) or "
                   "lognormal distribution.",
           .minimum = 0},
          {.name = "durations",
           .type = parameter_type::path,
           .help = "Instead of 'duration', a text file with one in each line, such as 12.5ms, used "
                   "over and over; # begins a comment."}};
}

parameter per_row_parameter() {
  return {.name = "per_row",
          .type = parameter_type::duration,
          .help = "Additional time for each row of the first input.",
          .default_value = "0ms",
          .minimum = 0};
}

void check_per_row(const arguments& given, std::span<const tensor_type> inputs, diagnostics& out) {
  if (given.duration("per_row") > 0 && (inputs.empty() || inputs[0].shape.rank() == 0)) {
    out.error(given.where("per_row"),
              "'per_row' counts the rows of the first input; add 'reads' with a tensor [N, ..]");
  }
}

nanoseconds add_rows(nanoseconds time, nanoseconds per_row, std::int64_t rows) noexcept {
  if (per_row == 0) return time;
  const double sum =
      static_cast<double>(time) + static_cast<double>(per_row) * static_cast<double>(rows);
  return static_cast<nanoseconds>(std::min(sum, a_century));
}

nanoseconds device_spin_time(const stage_config& config) {
  const nanoseconds per_row = config.arguments.duration("per_row");
  return add_rows(config.arguments.duration("duration"), per_row,
                  per_row == 0 ? 0 : config.inputs.at(0).shape[0]);
}

spin_durations spin_durations::read(const arguments& given, diagnostics& out) {
  spin_durations result;
  const std::string& drawn = given.text("distribution");
  if (given.has("durations")) {
    for (const char* other : {"duration", "stddev"}) {
      if (given.has(other)) {
        out.error(given.where(other), fmt::format("'{}' and 'durations' exclude each other; remove "
                                                  "one of them",
                                                  other));
      }
    }
    if (drawn != "constant") {
      out.error(given.where("distribution"),
                "a distribution applies to 'duration', not to 'durations'; remove one of them");
    }
    try {
      result.listed_ = read_durations(given.text("durations"));
    } catch (const unreadable_file& problem) {
      out.error(given.where("durations"),
                fmt::format("{}: {}", quote(given.text("durations"), 200), problem.reason()));
    } catch (const input_error& problem) {
      out.error(given.where("durations"), problem.what());
    }
    return result;
  }
  if (!given.has("duration")) {
    out.error(given.where(),
              "it needs a time; add 'duration', such as duration: 5ms, or "
              "'durations', a file of them");
    return result;
  }
  const bool needs_stddev = drawn != "constant" && drawn != "exponential";
  if (needs_stddev && !given.has("stddev")) {
    out.error(given.where("distribution"),
              fmt::format("a {} distribution needs 'stddev', such as stddev: 1ms", drawn));
  } else if (!needs_stddev && given.has("stddev")) {
    out.error(given.where("stddev"),
              drawn == "constant" ? "'stddev' applies to a distribution; add one, such as "
                                    "distribution: normal"
                                  : "'stddev' of an exponential distribution is 'duration' itself; "
                                    "remove it");
  } else if (needs_stddev) {
    const auto mean = static_cast<double>(given.duration("duration"));
    const auto stddev = static_cast<double>(given.duration("stddev"));
    if (drawn == "uniform" && stddev * std::numbers::sqrt3 > mean) {
      out.error(
          given.where("stddev"),
          fmt::format("'stddev' of a uniform distribution is {} at most with this 'duration': "
                      "no time is below 0",
                      format_duration(mean / std::numbers::sqrt3)));
    }
    if (drawn == "lognormal" && mean == 0) {
      out.error(given.where("duration"), "'duration' of a lognormal distribution must be above 0");
    }
  }
  result.mean_ = static_cast<double>(given.duration("duration"));
  if (given.has("stddev")) result.stddev_ = static_cast<double>(given.duration("stddev"));
  if (drawn == "uniform") result.distribution_ = distribution::uniform;
  if (drawn == "normal") result.distribution_ = distribution::normal;
  if (drawn == "exponential") result.distribution_ = distribution::exponential;
  if (drawn == "lognormal") result.distribution_ = distribution::lognormal;
  return result;
}

nanoseconds spin_durations::of_frame(std::int64_t frame, std::uint64_t seed) const noexcept {
  const auto number = static_cast<std::uint64_t>(frame);
  if (!listed_.empty()) return listed_[number % listed_.size()];
  if (distribution_ == distribution::constant) return static_cast<nanoseconds>(mean_);
  const std::uint64_t own = mix_seed(seed, number);
  // Uniform in [0, 1), with all bits of a double.
  const auto uniform = [own](std::uint64_t draw) {
    return static_cast<double>(mix_seed(own, draw) >> 11) * 0x1.0p-53;
  };
  // The method of Box and Muller, 1958.
  const auto normal = [&uniform] {
    return std::sqrt(-2 * std::log1p(-uniform(0))) * std::cos(2 * std::numbers::pi * uniform(1));
  };
  double drawn = mean_;
  if (distribution_ == distribution::uniform) {
    drawn += stddev_ * std::numbers::sqrt3 * (2 * uniform(0) - 1);
  } else if (distribution_ == distribution::normal) {
    drawn += stddev_ * normal();
  } else if (distribution_ == distribution::exponential) {
    drawn *= -std::log1p(-uniform(0));
  } else {
    const double variance = std::log1p(stddev_ / mean_ * (stddev_ / mean_));
    drawn *= std::exp(std::sqrt(variance) * normal() - variance / 2);
  }
  return static_cast<nanoseconds>(std::clamp(drawn, 0.0, a_century));
}

}  // namespace graphline
