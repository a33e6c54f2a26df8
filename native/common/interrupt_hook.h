// The binding that sets the function long loops call.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer {

void bind_interrupts(nanobind::module_& m);

}  // namespace mercer
