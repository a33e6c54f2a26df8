#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_trig(nb::module_&) {}
