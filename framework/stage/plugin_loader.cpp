#include "framework/stage/plugin_loader.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/version.hpp"
#include "framework/stage/plugin_description.hpp"

namespace graphline {
namespace {

// The names of <elf.h> and their meaning: elf(5).

class elf_file {
 public:
  explicit elf_file(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    size_ = file_ ? static_cast<std::uint64_t>(file_.tellg()) : 0;
  }

  /// Nothing where not all of it lies within the file.
  std::optional<std::string> read(std::uint64_t at, std::uint64_t bytes) {
    if (at > size_ || bytes > size_ - at) return std::nullopt;
    std::string data(bytes, '\0');
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(data.data(), static_cast<std::streamsize>(bytes));
    return file_ ? std::optional(std::move(data)) : std::nullopt;
  }

  template <class Entry>
  std::optional<Entry> read(std::uint64_t at) {
    const auto data = read(at, sizeof(Entry));
    if (!data) return std::nullopt;
    Entry entry;
    std::memcpy(&entry, data->data(), sizeof entry);
    return entry;
  }

  /// An entry of a table of the header's.
  template <class Entry>
  std::optional<Entry> read(std::uint64_t table, std::uint64_t index) {
    const auto offset = index * sizeof(Entry);  // of 32 bits: no overflow
    return table > size_ ? std::nullopt : read<Entry>(table + offset);
  }

 private:
  std::ifstream file_;
  std::uint64_t size_;
};

/// Whether `names`, zeros between them, has `name` at `at`.
bool is_named(std::string_view names, std::uint64_t at, std::string_view name) {
  return at < names.size() && names.substr(at).starts_with(name) &&
         at + name.size() < names.size() && names[at + name.size()] == '\0';
}

/// Where it lies when the library is loaded.
std::optional<std::uint64_t> address_of(elf_file& file, const Elf64_Ehdr& header,
                                        std::string_view name) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = file.read<Elf64_Shdr>(header.e_shoff, i);
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto texts = file.read<Elf64_Shdr>(header.e_shoff, section->sh_link);
    if (!texts) continue;
    const auto symbols = file.read(section->sh_offset, section->sh_size);
    const auto names = file.read(texts->sh_offset, texts->sh_size);
    if (!symbols || !names) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols->data() + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF && is_named(*names, symbol.st_name, name)) {
        return symbol.st_value;
      }
    }
  }
  return std::nullopt;
}

/// The first `bytes` bytes of the data that a shared library exports under a name, read from its
/// file, so that no code of it runs. Nothing where there is no such data, or the file is no sound
/// library of this machine's kind: whatever it holds is harmless.
std::optional<std::string> exported_data(const std::string& path, std::string_view name,
                                         std::size_t bytes) {
  elf_file file(path);
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  const auto address = address_of(file, *header, name);
  if (!address) return std::nullopt;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.read<Elf64_Phdr>(header->e_phoff, i);
    if (!segment || segment->p_type != PT_LOAD || *address < segment->p_vaddr) continue;
    const auto within = *address - segment->p_vaddr;
    if (within >= segment->p_filesz || bytes > segment->p_filesz - within) continue;
    return file.read(segment->p_offset + within, bytes);
  }
  return std::nullopt;
}

namespace fs = std::filesystem;

using register_function = void (*)(stage_registry&);

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw input_error(fmt::format("plug-in '{}' {}", path, why));
}

/// The absolute path of a file that begins as a shared library does.
std::string checked_file(const std::string& path) {
  std::error_code problem;
  const fs::path file = fs::canonical(path, problem);
  if (problem == std::errc::no_such_file_or_directory) {
    refuse(path,
           fmt::format("is not there{}; build it first, or correct the path", near_file(path)));
  }
  if (problem) refuse(path, "cannot be reached: " + problem.message());
  if (!fs::is_regular_file(file, problem)) {
    refuse(path, fmt::format("is {}; a shared library is expected",
                             fs::is_directory(file, problem) ? "a folder" : "no regular file"));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(path, "cannot be read; check its permissions");
  constexpr std::string_view elf = "\177ELF";
  char beginning[elf.size()] = {};
  stream.read(beginning, sizeof beginning);
  if (std::string_view(beginning, sizeof beginning) != elf) {
    refuse(path, "is not a shared library; CMake's add_library(NAME MODULE ...) makes one");
  }
  return file.string();
}

/// Why the last dlopen of `file` failed, without the file's name in front.
std::string loader_message(const std::string& file) {
  const char* said = ::dlerror();
  std::string message = said != nullptr ? said : "no reason given";
  if (message.starts_with(file + ": ")) message.erase(0, file.size() + 2);
  return message;
}

template <std::size_t N>
std::string_view text_in(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

/// Refuses a plug-in that was built for another program than this.
void check_description(const std::string& path, const plugin_description& found) {
  constexpr const char* remedy = "build it again against this version";
  const auto version_of_it = text_in(found.graphline);
  const auto compiler_of_it = text_in(found.compiler);
  if (found.abi != plugin_abi) {
    refuse(path, fmt::format("was built for plug-in ABI {} of Graphline {} ({}), this program has "
                             "plug-in ABI {} of Graphline {} ({}): {}",
                             found.abi, version_of_it, compiler_of_it, plugin_abi, version(),
                             plugin_compiler, remedy));
  }
  if (compiler_of_it != plugin_compiler) {
    refuse(path, fmt::format("was compiled with {} (Graphline {}), this program with {} (Graphline "
                             "{}): build it again with this program's compiler",
                             compiler_of_it, version_of_it, plugin_compiler, version()));
  }
  if (found.layout != plugin_layout()) {
    refuse(path, fmt::format("was built against headers of Graphline {} that are not those of this "
                             "program ({}), or with options that change them: {}",
                             version_of_it, version(), remedy));
  }
}

constexpr std::string_view no_plugin =
    "is no Graphline plug-in: it has no GRAPHLINE_PLUGIN(registry) {...} of "
    "framework/stage/plugin.hpp, or is cut short or made for another machine";

/// What the file says of how it was built; its code runs as soon as it is opened as a library.
plugin_description description_in(const std::string& path, const std::string& file) {
  plugin_description found;
  const auto data = exported_data(file, "graphline_plugin", sizeof found);
  if (!data || !data->starts_with(plugin_magic)) refuse(path, no_plugin);
  std::memcpy(&found, data->data(), sizeof found);
  return found;
}

/// Opens the library and answers what adds its kinds. It is never closed: the kinds are code of it.
register_function open_library(const std::string& path, const std::string& file) {
  // All symbols now, so that none is found missing in the middle of a run; and for itself alone, so
  // that plug-ins do not meet each other's symbols.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(path, fmt::format("cannot be loaded: {}; 'ldd -r {}' shows what it lacks",
                             loader_message(file), path));
  }
  void* const registers = ::dlsym(library, "graphline_register_kinds");
  if (registers == nullptr) refuse(path, no_plugin);
  return reinterpret_cast<register_function>(registers);
}

/// The kinds of a plug-in, in a registry of their own, so that one that fails half-way leaves
/// nothing behind.
stage_registry kinds_of(const std::string& path, const std::string& file) {
  check_description(path, description_in(path, file));
  const register_function register_kinds = open_library(path, file);
  stage_registry kinds;
  try {
    register_kinds(kinds);
  } catch (const std::exception& e) {
    refuse(path, fmt::format("failed to register its kinds: {}", e.what()));
  } catch (...) {
    refuse(path, "failed to register its kinds: it threw what is no std::exception");
  }
  if (kinds.all().empty()) refuse(path, "brings no stage kinds: its GRAPHLINE_PLUGIN adds none");
  return kinds;
}

std::string origin_in_words(const stage_kind& kind) {
  return kind.origin.empty() ? "of this program's own"
                             : fmt::format("of plug-in '{}'", kind.origin);
}

}  // namespace

void load_plugin(const std::string& path, stage_registry& registry) {
  const std::string file = checked_file(path);
  const auto loaded = registry.all();
  const auto is_of_it = [&](const stage_kind* kind) { return kind->origin == file; };
  if (std::any_of(loaded.begin(), loaded.end(), is_of_it)) return;

  const stage_registry kinds = kinds_of(path, file);
  for (const stage_kind* kind : kinds.all()) {
    const stage_kind* const taken = registry.find(kind->name);
    if (taken == nullptr) continue;
    refuse(path,
           fmt::format("brings the kind '{}', a name that a kind {} has; give it another name",
                       kind->name, origin_in_words(*taken)));
  }
  for (const stage_kind* kind : kinds.all()) {
    stage_kind added = *kind;
    added.origin = file;
    registry.add(std::move(added));
  }
}

bool load_plugins(const pipeline_spec& spec, stage_registry& registry, diagnostics& out) {
  bool all = true;
  for (const named& plugin : spec.plugins) {
    try {
      const fs::path path = fs::path(spec.directory) / plugin.text;  // an absolute one stays
      load_plugin(path.lexically_normal().string(), registry);
    } catch (const input_error& e) {
      out.error(plugin.place, e.what());
      all = false;
    }
  }
  return all;
}

}  // namespace graphline
