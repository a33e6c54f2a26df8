// Python binding of the scatter of tall rows: shapes are checked here, the work is done without the GIL.
#include "linalg/scatter.h"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T> const ScatterTable<T>& kernels();
template <> const ScatterTable<float>& kernels<float>() { return MERCER_PICK(scatter).f32; }
template <> const ScatterTable<double>& kernels<double>() { return MERCER_PICK(scatter).f64; }

template <class T>
void add_scatter(OutMatrix<double> S, OutVector<double> sums, Matrix<T> X, std::optional<Vector<T>> origin,
                 std::optional<Vector<T>> root) {
    const long n = X.shape(0), d = X.shape(1);
    require(n == 0 || d < 2 || X.stride(1) == 1,
            "the rows of X must be contiguous; pass numpy.ascontiguousarray of it");
    require(long(S.shape(0)) <= d && long(S.shape(1)) == d && (d < 2 || S.stride(1) == 1),
            "S must have a column for each column of X, no more rows than that, and contiguous rows");
    require(long(sums.shape(0)) == d, "sums must have an entry per column of X");
    require(!origin || long(origin->shape(0)) == d, "origin must have an entry per column of X");
    require(!root || long(root->shape(0)) == n, "root must have an entry per row of X");
    nb::gil_scoped_release unlocked;
    constexpr size_t line = 64;
    const size_t size = kernels<T>().workspace_size(d);
    std::unique_ptr<T[]> memory(new T[size + line / sizeof(T)]);
    const auto start = reinterpret_cast<std::uintptr_t>(memory.get());
    T* workspace = reinterpret_cast<T*>((start + line - 1) / line * line);
    kernels<T>().add({X.data(), n, d, long(X.stride(0))}, origin ? origin->data() : nullptr,
                     root ? root->data() : nullptr, S.data(), S.stride(0), long(S.shape(0)), sums.data(), workspace);
}

template <class T> void bind_precision(nb::module_& m) {
    using namespace nb::literals;
    m.def("add_scatter", &add_scatter<T>, "S"_a.noconvert(), "sums"_a.noconvert(), "X"_a.noconvert(),
          "origin"_a.noconvert().none(), "root"_a.noconvert().none());
}

}  // namespace

void bind_scatter(nb::module_& m) {
    bind_precision<float>(m);
    bind_precision<double>(m);
}
