// Compiled twin of mercer/_numeric/linalg/outer.py: a matrix less two outer products, every entry read and written
// once.
#include <cstddef>

#include "common/arrays.h"

// Every operation rounds, as in NumPy.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace nb = nanobind;

namespace {

using namespace mercer;

void subtract_outer_products(Matrix<double> G, Vector<double> h, Vector<double> m, OutMatrix<double> out) {
    const size_t n = G.shape(0);
    require(G.shape(1) == n && h.shape(0) == n && m.shape(0) == n, "G must be square, h and m as long as it is");
    require(out.shape(0) == n && out.shape(1) == n, "out must have the shape of G");
    require(n < 2 || (G.stride(1) == 1 && out.stride(1) == 1), "the rows of G and out must be contiguous");
    nb::gil_scoped_release released;
    const double *a = h.data(), *b = m.data();
    for (size_t i = 0; i < n; ++i) {
        const double* from = G.data() + static_cast<int64_t>(i) * G.stride(0);
        double* to = out.data() + static_cast<int64_t>(i) * out.stride(0);
        const double a_i = a[i], b_i = b[i];
        for (size_t j = 0; j < n; ++j) {
            const double less = a_i * b[j], rest = from[j] - less, more = b_i * a[j];
            to[j] = rest - more;
        }
    }
}

}  // namespace

void bind_outer(nb::module_& m) {
    m.def("subtract_outer_products", &subtract_outer_products, nb::arg("G"), nb::arg("h"), nb::arg("m"),
          nb::arg("out").noconvert());
}
