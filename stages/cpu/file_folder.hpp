#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

/// Returns the required parameter `folder`. `files`: ".jpg and .jpeg files".
parameter folder_parameter(std::string_view files);

/// Returns the optional parameter `batch`; without it, a kind reads one file.
parameter batch_parameter();

/// Opens a stage of such a kind. Its outputs have rows, one for each file, only with `batch`.
opened_stage open_batch(const arguments& given, std::initializer_list<const char*> outputs,
                        prepare_function prepare);

/// Lists the files in the folder of the parameter `folder` whose names have one of the lower-case
/// `endings`, in any case, sorted by name, and calls `check` for each. Reports a folder that cannot
/// be read or has no such file, and the first `error` that `check` throws.
/// @return an empty list after an error
std::vector<std::string> files_of_folder(const arguments& given,
                                         std::initializer_list<std::string_view> endings,
                                         const std::function<void(const std::string&)>& check,
                                         diagnostics& out);

/// Returns the index of the first file of a call that reads `count` files. Indices continue after
/// the last file of the folder. Frames that run together read equally many files.
/// @throws run_error if `count` is not a multiple of `call.frames`
std::size_t first_file(const cpu_call& call, std::size_t count);

}  // namespace graphline
