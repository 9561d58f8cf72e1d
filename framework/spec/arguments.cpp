#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "framework/spec/parameter.hpp"

namespace graphline {

template <class T>
const T& arguments::get(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw std::logic_error(fmt::format("argument '{}' is absent: ask has() first", name));
  }
  const T* held = std::get_if<T>(&found->second.v);
  if (held == nullptr) {
    throw std::logic_error(fmt::format("argument '{}' is of another type", name));
  }
  return *held;
}

bool arguments::has(std::string_view name) const noexcept {
  return entries_.find(name) != entries_.end();
}

bool arguments::holds_text(std::string_view name) const noexcept {
  const auto found = entries_.find(name);
  return found != entries_.end() && std::holds_alternative<std::string>(found->second.v);
}

std::int64_t arguments::integer(std::string_view name) const {
  return get<std::int64_t>(name);
}

double arguments::number(std::string_view name) const {
  return get<double>(name);
}

bool arguments::boolean(std::string_view name) const {
  return get<bool>(name);
}

const std::string& arguments::text(std::string_view name) const {
  return get<std::string>(name);
}

nanoseconds arguments::duration(std::string_view name) const {
  return get<nanoseconds>(name);
}

const std::vector<std::int64_t>& arguments::integers(std::string_view name) const {
  return get<std::vector<std::int64_t>>(name);
}

const std::vector<double>& arguments::numbers(std::string_view name) const {
  return get<std::vector<double>>(name);
}

const shape& arguments::extents(std::string_view name) const {
  return get<graphline::shape>(name);
}

dtype arguments::element(std::string_view name) const {
  return get<dtype>(name);
}

const node& arguments::tree(std::string_view name) const {
  return get<node>(name);
}

place arguments::where(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? owner_ : found->second.where;
}

void arguments::set(std::string name, value v, place where) {
  entries_.insert_or_assign(std::move(name), entry{std::move(v), std::move(where)});
}

}  // namespace graphline
