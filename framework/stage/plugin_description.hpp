#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The plug-in ABI of these headers. Raise it with every change that breaks existing plug-ins. A
/// change breaks them if a class that they use gains, loses or moves a member or virtual function,
/// or if a member changes its meaning. Plug-ins use framework/base, framework/stage, spec/node.hpp,
/// spec/parameter.hpp, device/device.hpp and device/host/host_device.hpp.
inline constexpr std::uint32_t plugin_abi = 13;

#define GRAPHLINE_TEXT_OF_(word) #word
#define GRAPHLINE_TEXT_OF(macro) GRAPHLINE_TEXT_OF_(macro)

/// The C++ ABI and standard library of this compilation. Program and plug-in must have the same.
inline constexpr std::string_view plugin_compiler =
#ifdef __GXX_ABI_VERSION
    "C++ ABI " GRAPHLINE_TEXT_OF(__GXX_ABI_VERSION)
#else
    "an unknown C++ ABI"
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
        ", libstdc++ with C++11 strings"
#elif defined(__GLIBCXX__)
    ", libstdc++ with old strings"
#elif defined(_LIBCPP_ABI_VERSION)
    ", libc++ " GRAPHLINE_TEXT_OF(_LIBCPP_ABI_VERSION)
#endif
#ifdef _GLIBCXX_DEBUG
        ", debug containers"
#endif
    ;

#undef GRAPHLINE_TEXT_OF
#undef GRAPHLINE_TEXT_OF_

/// How a plug-in was built, as plain data at the symbol `graphline_plugin`. A program reads it
/// before it calls the plug-in. Later versions of Graphline may append members but must keep these.
struct plugin_description {
  char magic[16];          ///< `plugin_magic`
  std::uint32_t abi;       ///< `plugin_abi`
  std::uint32_t reserved;  ///< 0
  char graphline[32];      ///< version of Graphline that the plug-in was built against: "0.1.0"
  char compiler[96];       ///< `plugin_compiler`
};

inline constexpr std::string_view plugin_magic = "graphline.plugin";

/// Describes code that is compiled with these headers. All texts except `magic` end in a zero.
constexpr plugin_description describe_plugin(std::string_view graphline_version) {
  plugin_description result{};
  const auto put = [](std::string_view text, char* to, std::size_t room) {
    std::copy_n(text.begin(), std::min(text.size(), room), to);
  };
  put(plugin_magic, result.magic, sizeof result.magic);
  result.abi = plugin_abi;
  put(graphline_version, result.graphline, sizeof result.graphline - 1);
  put(plugin_compiler, result.compiler, sizeof result.compiler - 1);
  return result;
}

}  // namespace graphline
