#include "framework/device/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

/// A device of a backend, by its index.
struct choice {
  const backend* of;
  int index;
  device_properties properties;
};

/// Returns all device names, including those of backends that this build lacks.
const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names = {"auto", "host", "cuda"};
  return names;
}

/// Parses the non-negative number after the colon.
std::optional<int> index_from(std::string_view text) {
  int index = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (problem != std::errc{} || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

choice choose_best(const std::vector<backend>& backends) {
  std::vector<std::string> reasons;
  for (const backend& b : backends) {
    std::string reason;
    if (const auto found = b.list(reason); !found.empty()) return {&b, 0, found.front()};
    reasons.push_back(fmt::format("{}: {}", b.name, reason));
  }
  if (reasons.empty()) throw no_device_error("this program was built without any device");
  throw no_device_error(
      fmt::format("no device was found on this machine ({})", fmt::join(reasons, "; ")));
}

choice choose(const std::vector<backend>& backends, const std::string& request) {
  if (request == "auto") return choose_best(backends);

  const std::size_t colon = request.find(':');
  const std::string name = request.substr(0, colon);
  if (std::ranges::find(known_names(), name) == known_names().end() &&
      std::ranges::find(backends, name, &backend::name) == backends.end()) {
    throw input_error(
        fmt::format("unknown device {}{}", quote(request), suggestion(name, known_names())));
  }

  std::optional<int> index = 0;
  if (colon != std::string::npos) {
    if (name != "auto") index = index_from(std::string_view(request).substr(colon + 1));
    if (name == "auto" || !index) {
      throw input_error(
          fmt::format("'{}' is not a device; 'cuda' and 'host' take an index, as in 'cuda:0'; for "
                      "the compute threads of 'host' use --threads N",
                      request));
    }
    if (name == "host") index = 0;  // every machine has as many as a pipeline declares
  }

  const auto found = std::ranges::find(backends, name, &backend::name);
  if (found == backends.end()) {
    throw no_device_error(
        fmt::format("this program was built without the '{}' device; build it on a machine with "
                    "the CUDA toolkit; --device host runs on the CPU",
                    name));
  }

  std::string reason;
  const std::vector<device_properties> devices = found->list(reason);
  if (devices.empty()) {
    throw no_device_error(
        fmt::format("no '{}' device was found on this machine: {}; --device host runs on the CPU",
                    name, reason));
  }
  if (std::cmp_greater_equal(*index, devices.size())) {
    std::vector<std::string> names;
    for (const device_properties& d : devices) {
      names.push_back(fmt::format("{}:{} ({})", name, names.size(), d.name));
    }
    throw no_device_error(
        fmt::format("there is no device '{}'; found: {}", request, fmt::join(names, ", ")));
  }
  return {&*found, *index, devices[static_cast<std::size_t>(*index)]};
}

}  // namespace

device_properties device_list::resolve(const device_request& request) const {
  return choose(backends_, request.name).properties;
}

std::unique_ptr<device> device_list::open(const device_request& request) const {
  const choice chosen = choose(backends_, request.name);
  return chosen.of->open(chosen.index, request);
}

std::string device_list::why_apart(const std::string& device, const std::string& other) const {
  const std::size_t colon = device.find(':');
  const auto same = std::ranges::find(backends_, device.substr(0, colon), &backend::name);
  if (same == backends_.end() || !other.starts_with(same->name + ':')) {
    return "they are of different kinds";
  }
  const auto index = index_from(std::string_view(device).substr(colon + 1));
  const auto to = index_from(std::string_view(other).substr(colon + 1));
  if (same->why_apart == nullptr || !index || !to) return "their kind does not exchange tensors";
  return same->why_apart(*index, *to);
}

}  // namespace graphline
