// The library `graphline_mpi`, the only code that is compiled with MPI's headers.

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "framework/ranks/mpi/mpi_functions.h"

namespace {

constexpr int without_threads = -1;  ///< not an error of MPI
MPI_Comm world = MPI_COMM_NULL;      ///< a duplicate, so that errors are returned here only
MPI_Comm tensors = MPI_COMM_NULL;    ///< another, for tensors

static_assert(sizeof(MPI_Request) <= sizeof(void*));

int begin(graphline_mpi_place* place) {
  int provided = 0;
  if (const int e = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return e;
  if (provided < MPI_THREAD_SERIALIZED) return without_threads;
  if (const int e = MPI_Comm_dup(MPI_COMM_WORLD, &world)) return e;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (const int e = MPI_Comm_dup(world, &tensors)) return e;
  MPI_Comm_rank(world, &place->rank);
  MPI_Comm_size(world, &place->size);
  MPI_Comm local = MPI_COMM_NULL;
  if (const int e =
          MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &local)) {
    return e;
  }
  MPI_Comm_rank(local, &place->local_rank);
  MPI_Comm_size(local, &place->local_size);
  MPI_Comm_free(&local);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view ends = ",\n";
  const std::string first(text, std::find_first_of(text, text + length, ends.begin(), ends.end()));
  std::strncpy(place->library, first.c_str(), sizeof place->library - 1);
  return MPI_SUCCESS;
}

int send(int to, int kind, const void* data, int bytes) {
  return MPI_Send(data, bytes, MPI_BYTE, to, kind, world);
}

int probe(int* from, int* kind, int* bytes) {
  int arrived = 0;
  MPI_Status status;
  *from = -1;
  if (const int e = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &arrived, &status)) return e;
  if (arrived == 0) return MPI_SUCCESS;
  *from = status.MPI_SOURCE;
  *kind = status.MPI_TAG;
  return MPI_Get_count(&status, MPI_BYTE, bytes);
}

int receive(int from, int kind, void* data, int bytes) {
  return MPI_Recv(data, bytes, MPI_BYTE, from, kind, world, MPI_STATUS_IGNORE);
}

/// Calls a function that starts a request, or uses one, which the caller holds as a pointer.
template <class Call>
int with_request(void** held, const Call& call) {
  MPI_Request request;
  std::memcpy(&request, held, sizeof request);
  const int status = call(&request);
  std::memcpy(held, &request, sizeof request);
  return status;
}

int start_send(int to, int channel, const void* data, int bytes, void** held) {
  return with_request(held, [&](MPI_Request* request) {
    // Done when the receiver has begun to receive, so that a sender is not ahead without limit.
    return MPI_Issend(data, bytes, MPI_BYTE, to, channel, tensors, request);
  });
}

int start_receive(int from, int channel, void* data, int bytes, void** held) {
  return with_request(held, [&](MPI_Request* request) {
    return MPI_Irecv(data, bytes, MPI_BYTE, from, channel, tensors, request);
  });
}

int test(void** held, int* done) {
  return with_request(
      held, [&](MPI_Request* request) { return MPI_Test(request, done, MPI_STATUS_IGNORE); });
}

int cancel(void** held) {
  return with_request(held, [](MPI_Request* request) {
    if (const int e = MPI_Cancel(request)) return e;
    return MPI_Wait(request, MPI_STATUS_IGNORE);
  });
}

int end() {
  return MPI_Finalize();
}

void abort_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

void error_text(int error, char* text, std::size_t bytes) {
  char whole[MPI_MAX_ERROR_STRING] = "it was built without MPI_THREAD_SERIALIZED";
  int length = 0;
  if (error != without_threads) MPI_Error_string(error, whole, &length);
  std::strncpy(text, whole, bytes - 1);
  text[bytes - 1] = '\0';
}

}  // namespace

extern "C" const graphline_mpi_functions* graphline_mpi() {
  static const graphline_mpi_functions functions = {
      GRAPHLINE_MPI_VERSION, begin, send,   probe, receive,   start_send,
      start_receive,         test,  cancel, end,   abort_all, error_text};
  return &functions;
}
