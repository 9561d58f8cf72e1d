#include <cstddef>
#include <memory>
#include <string>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/text_check.hpp"

namespace graphline {

std::shared_ptr<const source_text> read_source(const std::string& path) {
  constexpr std::size_t largest = std::size_t{16} << 20;
  auto source = read_text_file(path, largest);
  if (const auto problem = find_unreadable(source)) throw input_error(problem->render());
  return source;
}

}  // namespace graphline
