// Resolution of device requests, with fake backends.

#include "framework/device/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;

device_properties named(const std::string& backend, const std::string& name) {
  device_properties p;
  p.backend = backend;
  p.name = name;
  return p;
}

/// Arguments of `open`.
struct opened {
  int index = -1;
  int threads = -1;
};
opened last_opened;

std::unique_ptr<device> note_opening(int index, const device_request& request) {
  last_opened = {index, request.host_threads};
  return nullptr;
}

backend two_gpus() {
  return {"cuda",
          [](std::string&) {
            return std::vector{named("cuda", "Big GPU"), named("cuda", "Small GPU")};
          },
          &note_opening};
}

backend no_gpu() {
  return {"cuda",
          [](std::string& reason) {
            reason = "no driver is loaded";
            return std::vector<device_properties>{};
          },
          &note_opening};
}

backend one_host() {
  return {"host", [](std::string&) { return std::vector{named("host", "CPU")}; }, &note_opening};
}

/// Message of the exception E for a request.
template <class E>
std::string refusal(const device_list& devices, const std::string& name) {
  try {
    return "resolved to " + devices.resolve({.name = name}).backend;
  } catch (const E& e) {
    return e.what();
  }
}

TEST(device_list, auto_is_the_best_there_is) {
  EXPECT_EQ(device_list({two_gpus(), one_host()}).resolve({}).backend, "cuda");
  EXPECT_EQ(device_list({no_gpu(), one_host()}).resolve({}).backend, "host");
  EXPECT_EQ(device_list({one_host()}).resolve({}).backend, "host");
}

TEST(device_list, auto_says_why_when_there_is_nothing) {
  EXPECT_THAT(refusal<no_device_error>(device_list({no_gpu()}), "auto"),
              HasSubstr("no driver is loaded"));
  EXPECT_THAT(refusal<no_device_error>(device_list({}), "auto"), HasSubstr("without any device"));
}

TEST(device_list, finds_a_device_by_name_and_number) {
  const device_list devices({two_gpus(), one_host()});
  EXPECT_EQ(devices.resolve({.name = "host"}).backend, "host");
  EXPECT_EQ(devices.resolve({.name = "cuda"}).backend, "cuda");
  EXPECT_EQ(devices.resolve({.name = "cuda:1"}).backend, "cuda");
  EXPECT_EQ(devices.resolve({.name = "cuda"}).name, "Big GPU");
  EXPECT_EQ(devices.resolve({.name = "cuda:1"}).name, "Small GPU");
}

TEST(device_list, opens_the_device_it_resolved) {
  const device_list devices({two_gpus(), one_host()});
  static_cast<void>(devices.open({.name = "cuda:1", .host_threads = 0}));
  EXPECT_EQ(last_opened.index, 1);
  static_cast<void>(devices.open({.name = "host", .host_threads = 7}));
  EXPECT_EQ(last_opened.index, 0);
  EXPECT_EQ(last_opened.threads, 7);
}

TEST(device_list, suggests_a_name_for_one_that_is_none) {
  EXPECT_THAT(refusal<input_error>(device_list({one_host()}), "hots"), HasSubstr("'host'"));
  EXPECT_THAT(refusal<input_error>(device_list({one_host()}), "cud:0"), HasSubstr("'cuda'"));
  EXPECT_THAT(refusal<input_error>(device_list({one_host()}), ""), HasSubstr("unknown device ''"));
}

TEST(device_list, says_that_this_build_lacks_a_backend) {
  EXPECT_EQ(refusal<no_device_error>(device_list({one_host()}), "cuda"),
            "this program was built without the 'cuda' device; build it on a machine with "
            "the CUDA toolkit; --device host runs on the CPU");
}

TEST(device_list, says_why_a_backend_finds_no_device) {
  EXPECT_EQ(refusal<no_device_error>(device_list({no_gpu(), one_host()}), "cuda"),
            "no 'cuda' device was found on this machine: no driver is loaded; --device host runs "
            "on the CPU");
}

TEST(device_list, says_what_was_found_when_the_number_is_too_high) {
  EXPECT_EQ(refusal<no_device_error>(device_list({two_gpus()}), "cuda:2"),
            "there is no device 'cuda:2'; found: cuda:0 (Big GPU), cuda:1 (Small GPU)");
}

TEST(device_list, takes_a_number_after_cuda_and_host) {
  const device_list devices({two_gpus(), one_host()});
  for (const char* name :
       {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "host:x", "auto:1"}) {
    EXPECT_THAT(refusal<input_error>(devices, name),
                AllOf(HasSubstr("as in 'cuda:0'"), HasSubstr("--threads N")))
        << name;
  }
  EXPECT_EQ(devices.resolve({"cuda:1"}).name, "Small GPU");
  EXPECT_EQ(devices.resolve({"host:3"}).backend, "host");
}

TEST(device_list, tells_why_two_devices_are_apart) {
  backend gpus = two_gpus();
  gpus.why_apart = [](int index, int other) {
    return index + other == 3 ? std::string() : std::string("no bridge");
  };
  const device_list devices({gpus, one_host()});
  EXPECT_EQ(devices.why_apart("cuda:1", "cuda:2"), "");
  EXPECT_EQ(devices.why_apart("cuda:0", "cuda:1"), "no bridge");
  EXPECT_EQ(devices.why_apart("cuda:0", "host:0"), "they are of different kinds");
  EXPECT_EQ(devices.why_apart("other:0", "other:1"), "they are of different kinds");
  EXPECT_EQ(devices.why_apart("host:0", "host:1"), "their kind does not exchange tensors");
}

}  // namespace
}  // namespace graphline
