// A shared library that is not a plug-in.

extern "C" int a_function();

int a_function() {
  return 1;
}
