#include "framework/report/trace/trace_file.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

/// The text in a gzip file, by zlib's own reader.
std::string unpacked(const std::string& packed, std::size_t most) {
  z_stream state{};
  EXPECT_EQ(::inflateInit2(&state, 15 + 16), Z_OK);
  std::string text(most + 1, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  state.avail_in = static_cast<uInt>(packed.size());
  state.next_out = reinterpret_cast<Bytef*>(text.data());
  state.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(::inflate(&state, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(state.avail_in, 0u);
  text.resize(text.size() - state.avail_out);
  ::inflateEnd(&state);
  return text;
}

TEST(gzip, unpacks_to_what_was_written_however_long) {
  for (const std::size_t length : {0, 1, 1000, 3'000'000}) {
    std::string text;
    for (std::size_t i = 0; text.size() < length; ++i) text += std::to_string(i * i % 9973);
    text.resize(length);
    const auto packed = text_by(write_gzip, [&](text_sink& to) { to.append(text); });
    EXPECT_EQ(unpacked(packed, length), text);
  }
}

TEST(trace_file, is_compressed_where_its_name_says_so) {
  const auto record = samples::two_models(timing_method::event, 200);
  const auto text = trace_json(record);
  EXPECT_EQ(text_by(write_trace_file, record, std::string_view("run.json")), text);
  const auto packed = text_by(write_trace_file, record, std::string_view("run.json.gz"));
  EXPECT_LT(packed.size(), text.size() / 5);
  EXPECT_EQ(unpacked(packed, text.size()), text);
}

}  // namespace
}  // namespace graphline
