#pragma once

#include <cstddef>

namespace graphline {

/// The z that a standard normal variable exceeds to either side with probability `level`, so that
/// |Z| > z: 1.96 for 0.05. 0 < level < 1.
double normal_critical(double level);

/// The same for Student's t with `freedom` degrees of freedom, at least 1: 2.26 for 0.05 and 9. To
/// seven digits at least.
double student_t_critical(double level, std::size_t freedom);

}  // namespace graphline
