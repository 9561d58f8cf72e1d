#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The plug-in ABI of these headers. Raise it with every change after which a plug-in that was
/// built before would no longer fit: a class that plug-ins use (in framework/base, framework/stage,
/// spec/node.hpp, spec/parameter.hpp, device/device.hpp, device/host/host_device.hpp) gets, loses
/// or moves a member or a virtual function, or something that exists comes to mean something else.
/// Kinds, layers and everything else that plug-ins do not see leave it as it is.
inline constexpr std::uint32_t plugin_abi = 4;

/// A number that differs when what plug-ins and programs hand each other is laid out differently in
/// memory: another compiler option, debug containers, or a change that forgot to raise
/// `plugin_abi`.
constexpr std::uint32_t plugin_layout() noexcept {
  std::uint32_t mixed = 2166136261U;  // FNV-1a, a word at a time
  for (const std::size_t size :
       {sizeof(source_text),    sizeof(place),         sizeof(diagnostic),
        sizeof(diagnostics),    sizeof(shape),         sizeof(tensor_type),
        sizeof(tensor_view),    sizeof(node),          sizeof(node::member),
        sizeof(parameter),      sizeof(arguments),     sizeof(cost),
        sizeof(layer_summary),  sizeof(stage_shape),   sizeof(stage_config),
        sizeof(cpu_call),       sizeof(stage_tensors), sizeof(stage_part),
        sizeof(named_tensor),   sizeof(port),          sizeof(stage_kind),
        sizeof(stage_registry), sizeof(memory),        sizeof(device_properties)}) {
    mixed = (mixed ^ static_cast<std::uint32_t>(size)) * 16777619U;
  }
  return mixed;
}

#define GRAPHLINE_TEXT_OF_(word) #word
#define GRAPHLINE_TEXT_OF(macro) GRAPHLINE_TEXT_OF_(macro)

/// What decides whether the C++ of two compilations fits together, in words.
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

/// How a plug-in was built: plain data under the name `graphline_plugin`, which a program reads
/// before it calls anything in it. These members stay as they are in every version; further ones
/// may follow them.
struct plugin_description {
  char magic[16];        ///< `plugin_magic`
  std::uint32_t abi;     ///< `plugin_abi`
  std::uint32_t layout;  ///< `plugin_layout()`
  char graphline[32];    ///< the version of Graphline it was built against: "0.1.0"
  char compiler[96];     ///< `plugin_compiler`
};

inline constexpr std::string_view plugin_magic = "graphline.plugin";

/// The description of what is compiled with these headers. Texts end in a zero, the magic apart.
constexpr plugin_description describe_plugin(std::string_view graphline_version) {
  plugin_description result{};
  const auto put = [](std::string_view text, char* to, std::size_t room) {
    std::copy_n(text.begin(), std::min(text.size(), room), to);
  };
  put(plugin_magic, result.magic, sizeof result.magic);
  result.abi = plugin_abi;
  result.layout = plugin_layout();
  put(graphline_version, result.graphline, sizeof result.graphline - 1);
  put(plugin_compiler, result.compiler, sizeof result.compiler - 1);
  return result;
}

}  // namespace graphline
