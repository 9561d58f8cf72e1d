#include <cstddef>
#include <memory>
#include <vector>

#include "framework/base/random.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Draws the whole array in float64 and then casts it. The memory traffic equals that of NumPy's
/// `np.random.normal(size=shape).astype(dtype) * scale`.
class random_normal final : public cpu_stage {
 public:
  explicit random_normal(const stage_config& config)
      : seed_(config.seed),
        scale_(config.arguments.number("scale")),
        draws_(static_cast<std::size_t>(config.outputs.at(0).shape.elements())) {}

  void run(const cpu_call& call) override {
    // Seeded with the frame number, so that a frame's values do not depend on earlier frames.
    generator_.seed(mix_seed(seed_, static_cast<std::uint64_t>(call.frame)));
    generator_.fill(draws_);
    const tensor_view& out = call.outputs[0];
    if (out.type.element == dtype::float32) {
      scale_into(out.as<float>());
    } else {
      scale_into(out.as<double>());
    }
  }

 private:
  template <class T>
  void scale_into(T* out) const {
    const T scale = static_cast<T>(scale_);
    for (std::size_t i = 0; i < draws_.size(); ++i) out[i] = static_cast<T>(draws_[i]) * scale;
  }

  std::uint64_t seed_;
  double scale_;
  normal_generator generator_;
  std::vector<double> draws_;
};

/// FLOPs are unknown, because they depend on rejected pairs and the logarithm's implementation.
prepared_stage prepare_random_normal(const arguments& given, std::span<const tensor_type>,
                                     diagnostics&) {
  prepared_stage result;
  const dtype element =
      given.text("dtype") == to_string(dtype::float64) ? dtype::float64 : dtype::float32;
  result.outputs.push_back({given.extents("shape"), element});
  result.cost.bytes_written = static_cast<std::int64_t>(result.outputs[0].bytes());
  result.known = known_cost::bytes;
  result.make_cpu = make_cpu_stage<random_normal>;
  return result;
}

}  // namespace

stage_kind random_normal_kind() {
  stage_kind kind =
      kind_named("cpu.random_normal", "Draw normal random numbers, new ones for every frame");
  kind.outputs = {{"values", "the numbers"}};
  kind.parameters = {
      {.name = "shape",
       .type = parameter_type::shape,
       .help = "Extents of the tensor to fill.",
       .required = true},
      {.name = "scale",
       .type = parameter_type::number,
       .help = "Standard deviation: what each standard normal number is multiplied by, after the "
               "cast to dtype.",
       .default_value = "1.0"},
      {.name = "dtype",
       .type = parameter_type::choice,
       .help = "Element type of the result; the numbers are drawn in float64 in any case.",
       .default_value = "float32",
       .choices = {"float32", "float64"}},
  };
  kind.prepare = prepare_random_normal;
  return kind;
}

}  // namespace graphline
