#include "framework/run/execute/executor.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/run/execute/executors.hpp"
#include "framework/run/execute/real_host.hpp"

namespace graphline {

std::string describe_failure(const plan& p, std::optional<std::size_t> stage, std::int64_t frame) {
  try {
    throw;
  } catch (const interrupted_error&) {
    throw;
  } catch (const stage_failure& e) {
    return e.what();  // names the stage that failed; `stage` may be a later stage
  } catch (...) {
    const auto where = stage ? to_string(stage_point{label_of(p.stages[*stage]), frame})
                             : fmt::format("frame {}", frame);
    return fmt::format("{}: {}", where, reason_of_caught());
  }
}

std::unique_ptr<executor> make_executor(prepared_pipeline& pipeline,
                                        const shared_resources<real_host>* share) {
  if (share == nullptr) return make_executor_on<real_host>(pipeline);
  return std::make_unique<ready_executor<real_host>>(pipeline, *share);
}

}  // namespace graphline
