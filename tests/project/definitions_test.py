"""Tests of the definitions check itself, on sources made up for it."""

import unittest

import definitions


def names(text):
    return [name for name, _ in definitions.definitions(text)]


class Definitions(unittest.TestCase):
    def test_types_have_their_namespaces_and_outer_types(self):
        self.assertEqual(
            names("namespace a::b { class c : d<int> { struct e { int f; }; enum class g { h }; }; "
                  "union i {}; } struct alignas(64) [[nodiscard]] j final {};"),
            ["a::b::c", "a::b::c::e", "a::b::c::g", "a::b::i", "j"])

    def test_declarations_objects_and_parameters_are_no_definitions(self):
        self.assertEqual(
            names("class a; struct b c{1}; struct b d = {1}; friend class e; "
                  "template <class F> void f(struct g* h) { struct local {}; } enum k : int;"),
            ["f(struct g *)"])

    def test_unnamed_namespaces_hold_names_of_one_file(self):
        self.assertEqual(
            names("namespace a { namespace { struct b {}; inline int c() { return 1; } } "
                  "struct d {}; } struct e {};"),
            ["a::d", "e"])

    def test_comments_literals_and_directives_are_skipped(self):
        self.assertEqual(
            names('// struct a {\n/* struct b { */ const char* c = "{ struct d {"; '
                  "#define E struct f {\nchar g = '{'; auto h = R\"(struct i {)\"; "
                  "int j = 1'000; struct k {};"
                  .replace("#", "\n#")),
            ["k"])

    def test_specializations_are_told_apart(self):
        self.assertEqual(
            names("template <class T> struct a {}; template <> struct a<int> {}; "
                  "template <class T, class U = b<T>> class c<T*> {};"),
            ["a", "a<int>", "c<T*>"])

    def test_what_follows_braces_of_initializers_and_operators_is_found(self):
        self.assertEqual(
            names("a::a(int x) : b{x}, c<d>{1} { struct e {}; } struct f {}; "
                  "bool operator==(g, g) { return true; } struct h {}; "
                  "auto i = j{1, 2}; struct k {}; auto l() -> m { return {}; } struct n {};"),
            ["f", "h", "k", "n"])

    def test_inline_functions_are_known_by_their_parameters_types(self):
        self.assertEqual(
            names("inline int a(int x, const b::c& y = b::c{1, 2}) { return {}; } "
                  "constexpr bool d() noexcept { return true; } "
                  "template <class T> T e(const T&, unsigned int) { return {}; } "
                  "struct f { void g() {} }; inline void f::h() {} "
                  "int i() { return 1; } static inline int j() { return 1; }"),
            ["a(int, const b :: c &)", "d()", "e(const T &, unsigned int)", "f"])

    def test_inline_variables_are_found(self):
        self.assertEqual(
            names("inline constexpr int a = 1; inline b<c> d[] = {{1}, {2}}; inline e f{g(1)}; "
                  "constexpr int h = 2; inline int i(int j); inline constexpr auto k = l(3);"),
            ["a", "d", "f", "k"])

    def test_two_definitions_in_one_program_are_violations(self):
        lane = ("framework/device/host/lane.hpp", "namespace graphline { class recording {}; }")
        run = ("framework/run/execute/recording.hpp",
               "namespace graphline {\nclass recording {}; }")
        found, _ = definitions.violations(dict([lane, run]))
        self.assertEqual(len(found), 2)
        self.assertIn("framework/run/execute/recording.hpp:2: error: defines graphline::recording, "
                      "as does framework/device/host/lane.hpp:1", found[1])
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
