// A shared library for the loader to find.

extern "C" int graphline_fake_answer() {
  return 42;
}
