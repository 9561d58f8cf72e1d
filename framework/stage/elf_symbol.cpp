#include "framework/stage/elf_symbol.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>

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

}  // namespace

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

}  // namespace graphline
