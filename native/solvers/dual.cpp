// Compiled twin of mercer/_numeric/solvers/dual.py: greedy coordinate ascent on the dual of the hinge loss.
#include "solvers/dual.h"

#include <algorithm>
#include <vector>

#include "common/arrays.h"
#include "common/interrupts.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

constexpr double huge = 1e30;

Best step(const HingeState& s, double scale, const float* row) { return MERCER_PICK(dual).step_f32(s, scale, row); }
Best step(const HingeState& s, double scale, const double* row) { return MERCER_PICK(dual).step_f64(s, scale, row); }

struct Gap {
    double value, primal;
};

Gap gap_of(const HingeState& s) {
    double loss = 0, penalty = 0, total = 0;
    for (long i = 0; i < s.n; ++i) {
        loss += s.upper[i] * std::max(0.0, 1.0 - s.y[i] * s.f[i]);
        penalty += 0.5 * s.beta[i] * s.y[i] * s.f[i];
        total += s.beta[i];
    }
    return {loss + 2.0 * penalty - total, loss + penalty};
}

template <class T>
std::pair<long, double> ascend(const T* Q, HingeState s, double* beta, double alpha, double tolerance, long max_steps) {
    long steps = 0;
    InterruptCheck interrupt;
    Best best = step(s, 0.0, Q);
    while (true) {
        const long until = std::min(max_steps, steps + std::max(s.n / 20, 50L));
        while (steps < until && best.index >= 0) {
            const long i = best.index;
            const double gradient = 1.0 - s.y[i] * s.f[i];
            const double updated = std::min(std::max(beta[i] + gradient * s.inverse[i], 0.0), s.upper[i]);
            const double change = updated - beta[i];
            beta[i] = updated;
            best = step(s, change * s.y[i] / (2.0 * alpha), Q + i * s.n);
            ++steps;
            interrupt(s.n);
        }
        const Gap gap = gap_of(s);
        if (gap.value <= tolerance * gap.primal || steps >= max_steps || best.index < 0) return {steps, gap.value};
    }
}

template <class T>
nb::tuple hinge_ascent(const Rows<T>& Q, const Vector<double>& y, const Vector<double>& upper, double alpha,
                       OutVector<double> beta, OutVector<double> f, double tolerance, long max_steps) {
    const size_t n = y.shape(0);
    require(
        n != 0 && Q.shape(0) == n && Q.shape(1) == n && upper.shape(0) == n && beta.shape(0) == n && f.shape(0) == n,
        "Q must be square, with one entry of y, upper, beta and f for each of its rows.");
    std::vector<double> curvature(n), inverse(n);
    for (size_t i = 0; i < n; ++i) {
        curvature[i] = static_cast<double>(Q.data()[i * n + i]) / (2.0 * alpha);
        inverse[i] = curvature[i] > 0 ? 1.0 / std::max(curvature[i], 1.0 / huge) : huge;
    }
    const HingeState state{static_cast<long>(n), y.data(),    upper.data(), curvature.data(),
                           inverse.data(),       beta.data(), f.data()};
    std::pair<long, double> done;
    {
        nb::gil_scoped_release released;
        done = ascend(Q.data(), state, beta.data(), alpha, tolerance, max_steps);
    }
    return nb::make_tuple(done.first, done.second);
}

template <class T>
void bind(nb::module_& m) {
    m.def("hinge_ascent", &hinge_ascent<T>, nb::arg("Q"), nb::arg("y"), nb::arg("upper"), nb::arg("alpha"),
          nb::arg("beta"), nb::arg("f"), nb::arg("tolerance"), nb::arg("max_steps"));
}

}  // namespace

void bind_dual(nb::module_& m) {
    bind<double>(m);
    bind<float>(m);
}
