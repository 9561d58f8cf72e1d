#include "framework/ranks/mpi_communicator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/ranks/mpi/mpi_functions.h"

namespace graphline {
namespace {

constexpr const char* library_file = "libgraphline_mpi.so";

/// A text is sent in pieces, because MPI counts bytes in 31 bits. The first begins with the length.
constexpr std::size_t piece = std::size_t{1} << 26;

/// Returns the number in an environment variable; 0 if it is unset.
int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

/// Opens the library beside the program, or where it is installed.
/// @throws run_error
const graphline_mpi_functions* load_library() {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  std::string why = "it is not there";
  for (const char* place : {".", "../lib/graphline", "../" GRAPHLINE_LIBDIR "/graphline"}) {
    const fs::path file = folder / place / library_file;
    if (!fs::exists(file, unknown)) continue;
    // Open MPI loads its components later, and they need the symbols of its main library.
    void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (opened == nullptr) {
      why = ::dlerror();
      continue;
    }
    auto* const entry = reinterpret_cast<graphline_mpi_entry*>(::dlsym(opened, "graphline_mpi"));
    if (entry != nullptr && entry()->version == GRAPHLINE_MPI_VERSION) return entry();
    why = "it belongs to another version of the program";
  }
  throw run_error(
      fmt::format("MPI started {} ranks of this program, which cannot use MPI: {}: {}; build it "
                  "where Open MPI is: tools/quickstart --mpi",
                  ranks_of_job(), library_file, why));
}

class mpi_communicator : public communicator {
 public:
  mpi_communicator() : mpi_(load_library()) {
    graphline_mpi_place place{};
    check("MPI_Init", mpi_->begin(&place));
    if (place.size != ranks_of_job()) {
      throw run_error(
          fmt::format("the launcher started {} processes, of which {} sees {}; start them with its "
                      "own mpirun, or with srun --mpi=pmix",
                      ranks_of_job(), place.library, place.size));
    }
    rank_ = place.rank;
    size_ = place.size;
    local_rank_ = place.local_rank;
    local_size_ = place.local_size;
    library_ = place.library;
    parts_.resize(static_cast<std::size_t>(size_));
  }
  ~mpi_communicator() override { mpi_->end(); }

  void send(int to, message_kind kind, std::string_view text) override {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t length = text.size();
    std::string first(sizeof length, '\0');
    std::memcpy(first.data(), &length, sizeof length);
    first += text.substr(0, piece);
    send_piece(to, kind, first);
    for (std::size_t at = piece; at < text.size(); at += piece) {
      send_piece(to, kind, text.substr(at, piece));
    }
  }

  std::optional<rank_message> receive() override {
    const std::scoped_lock lock(mutex_);
    for (;;) {
      int from = -1;
      int kind = 0;
      int bytes = 0;
      check("MPI_Iprobe", mpi_->probe(&from, &kind, &bytes));
      if (from < 0) return std::nullopt;
      std::string text(static_cast<std::size_t>(bytes), '\0');
      check("MPI_Recv", mpi_->receive(from, kind, text.data(), bytes));
      partial& of = parts_[static_cast<std::size_t>(from)];
      if (of.missing == 0) {
        std::memcpy(&of.missing, text.data(), sizeof of.missing);
        text.erase(0, sizeof of.missing);
        of.text.clear();
      }
      of.text += text;
      of.missing -= text.size();
      if (of.missing == 0) return rank_message{from, message_kind{kind}, std::move(of.text)};
    }
  }

  bool receives_from(int rank) const override {
    return parts_[static_cast<std::size_t>(rank)].missing > 0;
  }

  void start_send(int to, int channel, std::span<const std::byte> bytes,
                  data_transfer& transfer) override {
    const std::scoped_lock lock(mutex_);
    check("MPI_Issend", mpi_->start_send(to, channel, bytes.data(), static_cast<int>(bytes.size()),
                                         &transfer.handle));
  }

  void start_receive(int from, int channel, std::span<std::byte> bytes,
                     data_transfer& transfer) override {
    const std::scoped_lock lock(mutex_);
    check("MPI_Irecv", mpi_->start_receive(from, channel, bytes.data(),
                                           static_cast<int>(bytes.size()), &transfer.handle));
  }

  bool is_done(data_transfer& transfer) override {
    const std::scoped_lock lock(mutex_);
    int done = 0;
    check("MPI_Test", mpi_->test(&transfer.handle, &done));
    return done != 0;
  }

  void cancel(data_transfer& transfer) override {
    const std::scoped_lock lock(mutex_);
    mpi_->cancel(&transfer.handle);
  }

  [[noreturn]] void abort(int status) override {
    mpi_->abort(status);
    std::_Exit(status);
  }

 private:
  /// A text of which pieces have not arrived.
  struct partial {
    std::string text;
    std::uint64_t missing = 0;
  };

  void send_piece(int to, message_kind kind, std::string_view text) {
    check("MPI_Send",
          mpi_->send(to, static_cast<int>(kind), text.data(), static_cast<int>(text.size())));
  }

  void check(const char* call, int error) const {
    if (error == 0) return;
    std::array<char, 512> text{};
    mpi_->error_text(error, text.data(), text.size());
    throw run_error(fmt::format("{} failed: {}", call, text.data()));
  }

  const graphline_mpi_functions* mpi_;
  std::mutex mutex_;            ///< MPI takes one call at a time
  std::vector<partial> parts_;  ///< by sender
};

}  // namespace

int ranks_of_job() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int started = number_in(variable); started > 0) return started;
  }
  // Slurm's variables are also set where it started only the script that runs this program.
  const bool by_slurm = std::getenv("PMIX_RANK") != nullptr;
  return by_slurm ? std::max(1, number_in("SLURM_STEP_NUM_TASKS")) : 1;
}

bool leads_job() {
  return number_in("OMPI_COMM_WORLD_RANK") == 0 && number_in("PMI_RANK") == 0 &&
         number_in("PMIX_RANK") == 0;
}

std::unique_ptr<communicator> join_ranks() {
  return std::make_unique<mpi_communicator>();
}

}  // namespace graphline
