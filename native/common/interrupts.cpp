#include "common/interrupts.h"

#include <nanobind/nanobind.h>

#include <chrono>

#include "common/interrupt_hook.h"

namespace nb = nanobind;

namespace mercer {

namespace {

constexpr long operations_per_look = 1L << 20;  // below a millisecond, and far above the cost of reading a clock
constexpr double interval = 0.1;                // seconds

PyObject* hook = nullptr;  // a Python function, kept for the life of the process

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

InterruptCheck::InterruptCheck() : last_(seconds()) {}

void InterruptCheck::operator()(long operations) {
    operations_ += operations;
    if (operations_ < operations_per_look) return;
    operations_ = 0;
    const double now = seconds();
    if (now - last_ < interval) return;
    last_ = now;
    nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (hook) nb::borrow<nb::callable>(hook)();
}

void bind_interrupts(nb::module_& m) {
    m.def(
        "call_in_loops",
        [](nb::callable function) {
            PyObject* before = hook;
            hook = function.release().ptr();
            Py_XDECREF(before);
        },
        nb::arg("function"), "Sets the function that long loops call now and then; what it raises ends them.");
}

}  // namespace mercer
