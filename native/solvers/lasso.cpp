// Compiled twin of mercer/_numeric/solvers/lasso.py: coordinate descent for the Lasso from Gram matrices.
#include "solvers/lasso.h"

#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

nb::tuple lasso_descent(const Matrix<double>& G, const Vector<double>& b, double yy, double penalty,
                        OutVector<double> w, OutVector<double> q, double tolerance, long max_sweeps) {
    const size_t m = b.shape(0);
    require(G.shape(0) == m && G.shape(1) == m && w.shape(0) == m && q.shape(0) == m,
            "G must be square, with one entry of b, w and q for each of its rows.");
    const long stride = row_stride(G, "G");
    std::vector<double> memory(2 * (lasso_depth + 1) * m);
    std::vector<long> active(m);
    InterruptCheck interrupt;
    const LassoJob job{G.data(), stride,   static_cast<long>(m), b.data(),     yy, penalty, tolerance, max_sweeps,
                       q.data(), w.data(), memory.data(),        active.data(), interrupt};
    LassoDone done;
    {
        nb::gil_scoped_release released;
        done = MERCER_PICK(lasso).descend(job);
    }
    return nb::make_tuple(done.gap, done.sweeps);
}

}  // namespace

void bind_lasso(nb::module_& m) {
    using namespace nb::literals;
    m.def("lasso_descent", lasso_descent, "G"_a.noconvert(), "b"_a.noconvert(), "yy"_a, "penalty"_a, "w"_a.noconvert(),
          "q"_a.noconvert(), "tolerance"_a, "max_sweeps"_a);
}
