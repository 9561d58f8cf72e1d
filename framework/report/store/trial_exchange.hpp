#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// A trial that another process ran: what it hands back. It knows neither the block nor when the
/// experiment began.
struct trial_exchange {
  std::vector<std::pair<std::string, std::string>> files;  ///< as in the plan it was made from
  trial_record trial;
};

/// One line of JSON.
std::string text_of(const trial_exchange& exchange);

/// The way back. Throws a `run_error` for what is no such line.
trial_exchange trial_exchange_from(std::string_view text);

}  // namespace graphline
