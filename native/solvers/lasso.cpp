// Compiled twin of mercer/_numeric/solvers/lasso.py: coordinate descent for the Lasso from Gram matrices.
#include "solvers/lasso.h"

#include <stdexcept>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Square = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using InOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple lasso_descent(const Square& G, const Vector<double>& b, double yy, double penalty, InOut w, InOut q,
                        double tolerance, long max_sweeps) {
    const size_t m = b.shape(0);
    if (G.shape(0) != m || G.shape(1) != m || w.shape(0) != m || q.shape(0) != m)
        throw std::invalid_argument("G must be square, with one entry of b, w and q for each of its rows.");
    if (m > 1 && (G.stride(1) != 1 || G.stride(0) < static_cast<int64_t>(m)))
        throw std::invalid_argument("G must have C-ordered rows; pass numpy.ascontiguousarray of it.");
    std::vector<double> memory(2 * (lasso_depth + 1) * m);
    std::vector<long> active(m);
    const LassoJob job{G.data(), m > 1 ? static_cast<long>(G.stride(0)) : 1, static_cast<long>(m), b.data(), yy,
                       penalty,  tolerance, max_sweeps, q.data(), w.data(), memory.data(), active.data()};
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
    m.def("lasso_descent", lasso_descent, "G"_a.noconvert(), "b"_a.noconvert(), "yy"_a, "penalty"_a,
          "w"_a.noconvert(), "q"_a.noconvert(), "tolerance"_a, "max_sweeps"_a);
}
