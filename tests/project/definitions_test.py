"""Tests of the definitions check, on made-up sources in the project's format."""

import unittest

import definitions

SOURCE = """// struct in_a_comment {
#define IN_A_DIRECTIVE struct x {
class declared;
namespace other {
class declared;
}

namespace a::b {

class derived : public base<int> {
  struct nested {
    int x;
  };
  void member() {}
};
enum class kind { x, y };
union alternatives {
  int x;
};
template <>
struct special<int> {};
struct alignas(64) [[nodiscard]] final_one final {};
struct object variable{1};

namespace {

struct hidden {};
inline int hidden_function() {
  return 1;
}

}  // namespace

inline int a(int x, const b::c& y = b::c{1, 2}) {
  return {};
}
[[noreturn]] inline void stop(const std::string& why, bool of = {}) {
  throw why;
}
template <class T>
T e(const T&, unsigned int side) {
  const char* text = "{ struct g {";
}
constexpr bool d() noexcept {
  return true;
}
int of_this_file_alone() {
  return 1;
}
static inline int also() {
  return 1;
}
inline void derived::outside() {}
inline bool operator==(x, x) {
  return true;
}
inline int declared_only(int j);
inline constexpr int one = 1;
inline b<c> many[] = {{1}, {2}};
inline e from_call{g(1)};
inline constexpr auto called = l(3);
constexpr int of_one_file = 2;

}  // namespace a::b

struct last {};
"""


class Definitions(unittest.TestCase):
    def test_types_inline_functions_and_inline_variables_are_found(self):
        self.assertEqual(
            [name for name, _ in definitions.definitions(SOURCE)],
            [f"a::b::{name}" for name in (
                "derived", "kind", "alternatives", "special<int>", "final_one",
                "a(int, const b::c&)", "stop(const std::string&, bool)",
                "e(const T&, unsigned int)", "d()", "one", "many", "from_call", "called")] +
            ["last"])

    def test_two_definitions_in_one_program_are_violations(self):
        lane = ("framework/device/host/lane.hpp", "namespace graphline {\nclass a {};\n"
                "class recording {};\n}  // namespace graphline\n")
        run = ("framework/run/execute/recording.hpp", "namespace graphline {\n\n"
               "class recording {\n};\n\n}  // namespace graphline\n")
        found, _ = definitions.violations(dict([lane, run]))
        self.assertEqual(len(found), 2)
        self.assertIn("framework/run/execute/recording.hpp:3: error: defines graphline::recording, "
                      "as does framework/device/host/lane.hpp:3", found[1])
        other = ("tests/run/a_test.cpp", run[1])
        self.assertEqual(len(definitions.violations(dict([lane, other]))[0]), 2)

    def test_programs_of_tests_do_not_meet_each_other(self):
        helper = "struct helper {};"
        self.assertEqual(definitions.violations(
            {"tests/run/a_test.cpp": helper, "tests/plan/b_test.cpp": helper})[0], [])
        self.assertEqual(len(definitions.violations(
            {"tests/run/a_test.cpp": helper, "tests/run/b_test.cpp": helper})[0]), 2)


if __name__ == "__main__":
    unittest.main()
