// Shared libraries that are no plug-ins: one with a function of its own, one that cannot be loaded.

extern "C" {
int defined_nowhere();
int a_function();
}

int a_function() {
#ifdef LACKS_A_SYMBOL
  return defined_nowhere();
#else
  return 1;
#endif
}
