#include <nanobind/nanobind.h>

NB_MODULE(_native, m) { m.doc() = "Compiled twins of the NumPy definitions in mercer._numeric."; }
