#include "framework/report/trace/trace_file.hpp"

#include <zlib.h>

#include <array>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/report/trace/trace_json.hpp"

namespace graphline {

namespace {

/// The state of one compression.
class deflater {
 public:
  explicit deflater(text_sink& to) : to_(to) {
    constexpr int gzip_window = 15 + 16;  // the largest window, and gzip's header
    constexpr int memory_level = 8;       // zlib's own default
    // The fastest level: traces are so much alike from frame to frame that it takes a tenth
    // already.
    if (::deflateInit2(&state_, Z_BEST_SPEED, Z_DEFLATED, gzip_window, memory_level,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw run_error("too little memory to compress the trace; name a file without .gz");
    }
  }
  ~deflater() { ::deflateEnd(&state_); }
  deflater(const deflater&) = delete;
  deflater& operator=(const deflater&) = delete;

  void add(std::string_view piece, int flush = Z_NO_FLUSH) {
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    state_.avail_in = static_cast<uInt>(piece.size());
    do {
      state_.next_out = out_.data();
      state_.avail_out = static_cast<uInt>(out_.size());
      ::deflate(&state_, flush);
      to_.append({reinterpret_cast<const char*>(out_.data()), out_.size() - state_.avail_out});
    } while (state_.avail_out == 0);
  }

  void finish() { add({}, Z_FINISH); }

 private:
  text_sink& to_;
  z_stream state_{};
  std::array<Bytef, 1 << 16> out_;
};

bool is_compressed(std::string_view path) {
  return path.ends_with(".gz");
}

}  // namespace

void write_gzip(text_sink& to, const std::function<void(text_sink&)>& text) {
  const auto compress = std::make_unique<deflater>(to);
  text_sink plain([&](std::string_view piece) { compress->add(piece); });
  text(plain);
  plain.flush();
  compress->finish();
}

void write_trace_file(text_sink& to, const run_record& record, std::string_view path) {
  if (!is_compressed(path)) return write_trace(to, record);
  write_gzip(to, [&](text_sink& plain) { write_trace(plain, record); });
}

}  // namespace graphline
