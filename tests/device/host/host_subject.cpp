// The `host` device as a subject of the conformance suite.

#include <deque>
#include <mutex>
#include <stdexcept>

#include "tests/device/conformance/function_subject.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline::conformance {
namespace {

/// The operations, which must outlive the device's use of them.
struct kept_operations {
  std::mutex mutex;
  std::deque<function_operation> all;
};

class host_subject final : private kept_operations, public function_subject {
 public:
  host_subject() : function_subject(open_host_device(1)) {}

  void enqueue_failure(stream& s) override {
    enqueue(s, "faulty", [] { throw std::runtime_error("the bolt is loose"); });
  }

  std::string failure_text() const override {
    return "operation 'faulty' failed on the host device: the bolt is loose";
  }

 private:
  void enqueue(stream& s, const std::string& name, std::function<void()> work) override {
    host_operation* operation = nullptr;
    {
      const std::scoped_lock lock(mutex);
      operation = &all.emplace_back(name, std::move(work));
    }
    host_enqueue(s, *operation);
  }
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  return std::make_unique<host_subject>();
}

}  // namespace graphline::conformance
