#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>

namespace graphline {

/// Operands lie at addresses that are multiples of this many bytes, unless a form says fewer.
inline constexpr std::size_t operand_alignment = 16;

/// The plans by which a library could carry out one operation, best first as the library guesses.
class plan_choices {
 public:
  virtual ~plan_choices() = default;

  virtual std::size_t size() const noexcept = 0;

  /// What divides the address of every operand, in bytes.
  virtual std::size_t alignment() const noexcept { return operand_alignment; }

  /// Tells a plan from the others, and is the same whenever the same library is asked for the same
  /// operation on the same kind of device.
  virtual std::string identity(std::size_t plan) const = 0;

  /// For reports: "cuDNN engine 8".
  virtual std::string describe(std::size_t plan) const = 0;

  /// Makes a plan ready to run, or returns false and tells why it cannot be. Throws `run_error`
  /// where that is not for want of support, such as want of memory.
  virtual bool build(std::size_t plan, std::string& why_not) = 0;

  /// Of a built plan.
  virtual std::size_t workspace_bytes(std::size_t plan) const = 0;

  /// Gives up all built plans but this one.
  virtual void keep_only(std::size_t plan) = 0;

  /// Enqueues a built plan with the operands of its form. Throws `run_error`.
  virtual void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
                   void* workspace) = 0;
};

}  // namespace graphline
