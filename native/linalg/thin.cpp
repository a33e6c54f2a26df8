// Python bindings of the thin products: shapes are checked here, the work is done without the GIL.
#include "linalg/thin.h"

#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T> const ThinTable<T>& kernels();
template <> const ThinTable<float>& kernels<float>() { return MERCER_PICK(thin).f32; }
template <> const ThinTable<double>& kernels<double>() { return MERCER_PICK(thin).f64; }

template <class Array> bool rows_are_contiguous(const Array& a) { return a.shape(1) < 2 || a.stride(1) == 1; }

template <class T, class Array> TallRows<T> rows_of(const Array& a, const char* message) {
    require(rows_are_contiguous(a), message);
    return {a.data(), long(a.shape(0)), long(a.shape(1)), long(a.stride(0))};
}

void add_transposed(const double* sums, long columns, const OutMatrix<double>& out) {
    for (size_t j = 0; j < out.shape(0); ++j)
        for (size_t q = 0; q < out.shape(1); ++q) out(j, q) += sums[q * columns + j];
}

template <class T>
void add_thin_products(Matrix<T> Z, Matrix<double> R, Matrix<double> V, OutMatrix<double> C, OutMatrix<double> P) {
    const auto rows = rows_of<T>(Z, "the rows of Z must be contiguous; pass numpy.ascontiguousarray of it");
    const long c = R.shape(1), p = V.shape(1), n = rows.count, D = rows.columns;
    require(long(R.shape(0)) == n && long(V.shape(0)) == D, "R must have the rows of Z, and V its columns");
    require(long(C.shape(0)) == D && long(C.shape(1)) == c && long(P.shape(0)) == D && long(P.shape(1)) == p,
            "C must be of shape (columns of Z, columns of R), and P of shape (columns of Z, columns of V)");
    std::vector<double> given(n * c), probes(p * D), sums((c + p) * D);
    for (long i = 0; i < n; ++i)
        for (long q = 0; q < c; ++q) given[i * c + q] = R(i, q);
    for (long j = 0; j < D; ++j)
        for (long q = 0; q < p; ++q) probes[q * D + j] = V(j, q);
    {
        nb::gil_scoped_release unlocked;
        kernels<T>().products(rows, given.data(), c, probes.data(), p, sums.data());
    }
    add_transposed(sums.data(), D, C);
    add_transposed(sums.data() + c * D, D, P);
}

template <class T>
void gather_rows(Matrix<T> Z, Vector<int64_t> order, Vector<T> origin, std::optional<Vector<T>> root,
                 OutMatrix<T> out) {
    auto rows = rows_of<T>(Z, "the rows of Z must be contiguous; pass numpy.ascontiguousarray of it");
    const long count = order.shape(0);
    require(rows_are_contiguous(out) && out.shape(1) == Z.shape(1) && long(out.shape(0)) == count,
            "out must have a contiguous row for each entry of order, and the columns of Z");
    require(origin.shape(0) == Z.shape(1), "origin must have an entry per column of Z");
    require(!root || root->shape(0) == order.shape(0), "root must have an entry per entry of order");
    for (long i = 0; i < count; ++i)
        require(0 <= order.data()[i] && order.data()[i] < rows.count, "order names a row that Z does not have");
    rows.count = count;
    std::vector<long> indices(order.data(), order.data() + count);
    nb::gil_scoped_release unlocked;
    kernels<T>().gather(rows, indices.data(), origin.data(), root ? root->data() : nullptr, out.data(), out.stride(0));
}

template <class T> void bind_precision(nb::module_& m) {
    using namespace nb::literals;
    m.def("add_thin_products", &add_thin_products<T>, "Z"_a.noconvert(), "R"_a, "V"_a, "C"_a.noconvert(),
          "P"_a.noconvert());
    m.def("gather_rows", &gather_rows<T>, "Z"_a.noconvert(), "order"_a, "origin"_a.noconvert(),
          "root"_a.noconvert().none(), "out"_a.noconvert());
}

}  // namespace

void bind_thin(nb::module_& m) {
    bind_precision<float>(m);
    bind_precision<double>(m);
}
