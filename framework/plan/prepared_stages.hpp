#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// Stages prepared for the plans of one command. Each combination of kind, arguments and input
/// types is prepared once, so that plans sharing this object read each model once.
class prepared_stages {
 public:
  /// @return null after an error in `out`
  std::shared_ptr<const opened_stage> open(const stage_kind& kind, const std::string& stage,
                                           const arguments& given, diagnostics& out);

  /// @return null after an error in `out`
  std::shared_ptr<const prepared_stage> prepare(const stage_kind& kind, const std::string& stage,
                                                const arguments& given,
                                                std::span<const tensor_type> inputs,
                                                diagnostics& out);

 private:
  template <class Result>
  struct kept {
    std::shared_ptr<const Result> result;
    diagnostics warnings;
  };

  struct preparation {
    std::vector<tensor_type> inputs;
    kept<prepared_stage> stage;
  };

  struct entry {
    const stage_kind* kind;
    arguments given;
    kept<opened_stage> opened = {};
    std::vector<preparation> prepared = {};
  };

  entry& entry_of(const stage_kind& kind, const arguments& given);

  std::deque<entry> entries_;  // references stay valid as it grows
};

}  // namespace graphline
