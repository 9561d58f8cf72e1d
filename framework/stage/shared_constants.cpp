#include "framework/stage/shared_constants.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/base/first_fit.hpp"

namespace graphline {

/// Both hashes are bijective in each word, with independent starts and multipliers.
shared_constants::content_id shared_constants::id_of(std::span<const std::byte> content) noexcept {
  content_id id{content.size(), 0xcbf29ce484222325ULL, 0x9e3779b97f4a7c15ULL};
  for (std::size_t at = 0; at < content.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + at, std::min(sizeof word, content.size() - at));
    id.hash = (id.hash ^ word) * 0xbf58476d1ce4e5b9ULL;
    id.hash ^= id.hash >> 32;
    id.other_hash = (id.other_hash ^ word) * 0x94d049bb133111ebULL;
    id.other_hash ^= id.other_hash >> 29;
  }
  return id;
}

std::vector<std::byte*> shared_constants::keep(
    const std::vector<std::span<const std::byte>>& contents) {
  struct new_content {
    content_id id;
    std::span<const std::byte> from;
    std::size_t offset;
  };
  std::vector<content_id> ids;
  std::vector<new_content> added;
  std::size_t bytes = 0;
  std::map<content_id, std::byte*> known = known_;
  for (const std::span<const std::byte> content : contents) {
    ids.push_back(id_of(content));
    if (!known.try_emplace(ids.back()).second) continue;
    added.push_back({ids.back(), content, bytes});
    bytes += aligned_bytes(content.size());
  }
  if (bytes > 0) {
    memory block = device_.allocate(bytes);
    const auto s = device_.make_stream("weights", priority::normal);
    for (const new_content& each : added) {
      known[each.id] = block.at(each.offset);
      s->copy(block.at(each.offset), each.from.data(), each.from.size());
    }
    device_.synchronize(wait_mode::block);
    blocks_.push_back(std::move(block));
    known_ = std::move(known);
  }
  std::vector<std::byte*> addresses;
  for (const content_id& id : ids) addresses.push_back(known_.at(id));
  return addresses;
}

}  // namespace graphline
