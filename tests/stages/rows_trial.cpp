#include "tests/stages/rows_trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "framework/stage/shared_constants.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {
namespace {

/// A tensor in device memory of the capacity, and its contents for a frame without padding.
struct trial_tensor {
  tensor_type type;
  bool rows = false;
  memory data;
  std::vector<std::byte> contents = {};

  tensor_type of(std::int64_t count) const { return rows ? first_rows(type, count) : type; }
};

std::vector<std::byte> some_contents(const tensor_type& type, std::size_t seed) {
  std::vector<std::byte> bytes(type.bytes());
  if (type.element == dtype::float32) {
    const auto values = some_values(type.shape.elements(), seed);
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else if (type.element == dtype::int64) {  // extents of pictures
    for (std::size_t i = 0; i < bytes.size(); i += 8) bytes[i] = static_cast<std::byte>(1 + i % 9);
  } else {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37 + seed);
  }
  return bytes;
}

std::vector<float> floats_in(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class rows_trial {
 public:
  rows_trial(std::shared_ptr<device> on, const stage_kind& kind, const std::string& yaml,
             const std::vector<tensor_type>& inputs)
      : on_(std::move(on)),
        stream_(on_->make_stream("trial", priority::normal)),
        values_(read_arguments(kind, yaml)) {
    diagnostics out;
    opened_ = kind.open ? kind.open(values_, out)
                        : opened_stage{{kind.inputs, kind.outputs}, kind.prepare};
    const prepared_stage whole = opened_.prepare(values_, inputs, out);
    out.throw_if_errors();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_.push_back({inputs[i], opened_.ports.inputs.at(i).rows,
                         on_->allocate(inputs[i].bytes()), some_contents(inputs[i], i + 1)});
    }
    for (std::size_t i = 0; i < whole.outputs.size(); ++i) {
      outputs_.push_back({whole.outputs[i], opened_.ports.outputs.at(i).rows,
                          on_->allocate(whole.outputs[i].bytes())});
    }
  }

  std::int64_t capacity() const {
    return std::ranges::find(inputs_, true, &trial_tensor::rows)->type.shape[0];
  }

  std::unique_ptr<device_stage> make(std::int64_t bucket,
                                     std::shared_ptr<shared_constants> constants) const {
    diagnostics out;
    const std::vector<tensor_type> inputs = types(inputs_, bucket);
    const prepared_stage prepared = opened_.prepare(values_, inputs, out);
    out.throw_if_errors();
    EXPECT_EQ(prepared.outputs, types(outputs_, bucket));
    const auto specific = prepared.make_device.find(on_->properties().backend);
    const auto& factory =
        specific != prepared.make_device.end() ? specific->second : prepared.make_device.at("");
    return factory(*on_, {.name = "trial",
                          .arguments = values_,
                          .inputs = inputs,
                          .outputs = prepared.outputs,
                          .seed = 1,
                          .constants = std::move(constants)});
  }

  /// Runs a stage made for `bucket` rows on `count` rows; returns the bytes of each output.
  std::vector<std::vector<std::byte>> run(device_stage& stage, std::int64_t bucket,
                                          std::int64_t count) {
    memory scratch;
    if (stage.scratch_bytes() > 0) {
      scratch = on_->allocate(stage.scratch_bytes());
      stream_->fill(scratch.data(), std::byte{0xff}, scratch.bytes());
    }
    for (const trial_tensor& input : inputs_) {
      stream_->fill(input.data.data(), std::byte{0xff}, input.type.bytes());
      stream_->copy(input.data.data(), input.contents.data(), input.of(count).bytes());
    }
    for (const trial_tensor& output : outputs_) {
      stream_->fill(output.data.data(), std::byte{0xff}, output.type.bytes());
    }
    const auto work = stage.bind({views(inputs_, bucket), views(outputs_, bucket), scratch.data()});
    work->enqueue(*stream_);
    std::vector<std::vector<std::byte>> found;
    for (const trial_tensor& output : outputs_) {
      std::vector<std::byte>& bytes = found.emplace_back(output.type.bytes());
      stream_->copy(bytes.data(), output.data.data(), bytes.size());
    }
    on_->synchronize(wait_mode::block);
    return found;
  }

  void expect_rows(device_stage& stage, std::int64_t bucket, std::int64_t count, double limit,
                   const std::vector<std::vector<std::byte>>& whole) {
    const auto found = run(stage, bucket, count);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const trial_tensor& output = outputs_[i];
      const std::string what =
          to_string(output.type) + ", " + std::to_string(count) + " of " + std::to_string(bucket);
      const std::size_t bytes = output.of(count).bytes();
      const auto rows = std::span(found[i]).first(bytes);
      const auto expected = std::span(whole[i]).first(bytes);
      if (output.type.element == dtype::float32) {
        EXPECT_LE(difference(floats_in(rows), floats_in(expected)), limit) << what;
      } else {
        EXPECT_TRUE(std::ranges::equal(rows, expected)) << what;
      }
      const auto behind = std::span(found[i]).subspan(output.of(bucket).bytes());
      EXPECT_EQ(std::ranges::count(behind, std::byte{0xff}), std::ssize(behind)) << what;
    }
  }

 private:
  static std::vector<tensor_type> types(const std::vector<trial_tensor>& of, std::int64_t bucket) {
    std::vector<tensor_type> all;
    for (const trial_tensor& tensor : of) all.push_back(tensor.of(bucket));
    return all;
  }
  static std::vector<tensor_view> views(const std::vector<trial_tensor>& of, std::int64_t bucket) {
    std::vector<tensor_view> all;
    for (const trial_tensor& tensor : of) all.push_back({tensor.data.data(), tensor.of(bucket)});
    return all;
  }

  std::shared_ptr<device> on_;
  std::unique_ptr<stream> stream_;
  arguments values_;
  opened_stage opened_;
  std::vector<trial_tensor> inputs_;
  std::vector<trial_tensor> outputs_;
};

}  // namespace

std::vector<std::size_t> expect_first_rows(const std::shared_ptr<device>& on,
                                           const stage_kind& kind, const std::string& yaml,
                                           const std::vector<tensor_type>& inputs,
                                           const std::vector<std::int64_t>& buckets, double limit) {
  SCOPED_TRACE(kind.name + " " + yaml);
  rows_trial trial(on, kind, yaml, inputs);
  const std::int64_t capacity = trial.capacity();
  EXPECT_EQ(buckets.back(), capacity);
  const auto whole = trial.run(*trial.make(capacity, nullptr), capacity, capacity);

  const auto constants = std::make_shared<shared_constants>(*on);
  std::vector<std::size_t> added;
  std::vector<std::unique_ptr<device_stage>> stages;
  for (const std::int64_t bucket : buckets) {
    const std::size_t before = on->usage().device_bytes;
    stages.push_back(trial.make(bucket, constants));
    added.push_back(on->usage().device_bytes - before);
  }
  for (std::int64_t count = 1; count <= capacity; ++count) {
    const auto bucket = std::ranges::lower_bound(buckets, count);
    device_stage& stage = *stages[static_cast<std::size_t>(bucket - buckets.begin())];
    trial.expect_rows(stage, *bucket, count, limit, whole);
  }
  return added;
}

}  // namespace graphline::test
