#include <nanobind/nanobind.h>

#include <stdexcept>

#include "common/dispatch.h"
#include "common/interrupt_hook.h"
#include "families.h"

namespace nb = nanobind;

NB_MODULE(_native, m) {
    m.doc() = "Compiled twins of the NumPy definitions in mercer._numeric.";
    try {
        mercer::chosen_level();
    } catch (const std::runtime_error& error) {
        throw nb::import_error(error.what());
    }
    m.def(
        "isa", [] { return mercer::level_name(mercer::chosen_level()); },
        "The instruction-set level the compiled core runs on.");
    mercer::bind_interrupts(m);
    mercer::bind_families(m);
}
