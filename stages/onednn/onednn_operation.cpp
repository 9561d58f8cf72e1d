#include "stages/onednn/onednn_operation.hpp"

#include <fmt/format.h>

#include <dnnl.hpp>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr onednn_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attributes;
}

dnnl::memory::desc plain_layout(const shape& s) {
  dnnl::memory::dims strides(s.rank(), 1);
  for (std::size_t axis = s.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * s[axis];
  return {s.extents(), dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc any_layout(const shape& s) {
  return {s.extents(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

std::string operation_name(const std::string& content, const dnnl::primitive_desc_base& chosen) {
  const char* implementation = nullptr;
  const auto status =
      dnnl_primitive_desc_query(chosen.get(), dnnl_query_impl_info_str, 0, &implementation);
  return status == dnnl_success ? fmt::format("{} [{}]", content, implementation) : content;
}

std::string_view describe_status(dnnl_status_t status) noexcept {
  switch (status) {
    case dnnl_success:
      return "success";
    case dnnl_out_of_memory:
      return "out of memory";
    case dnnl_invalid_arguments:
      return "invalid arguments";
    case dnnl_unimplemented:
      return "not implemented";
    case dnnl_iterator_ends:
      return "no further implementation";
    case dnnl_runtime_error:
      return "runtime error";
    case dnnl_not_required:
      return "not required";
  }
  return "unknown status";
}

onednn_operation::onednn_operation(std::string name, std::string owner, dnnl::primitive primitive,
                                   const std::vector<onednn_argument>& arguments)
    : name_(std::move(name)),
      owner_(std::move(owner)),
      primitive_(std::move(primitive)),
      stream_(onednn_engine()) {
  for (const onednn_argument& argument : arguments) {
    memories_.emplace_back(argument.layout, onednn_engine(), argument.data);
    arguments_.push_back({argument.role, memories_.back().get()});
  }
}

void onednn_operation::run() {
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  if (status != dnnl_success) {
    throw run_error(
        fmt::format("{}: oneDNN failed to run {}: {}", owner_, name_, describe_status(status)));
  }
}

std::vector<std::pair<std::string, std::string>> onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  return {{"oneDNN", fmt::format("{}.{}.{}", v.major, v.minor, v.patch)}};
}

}  // namespace graphline
