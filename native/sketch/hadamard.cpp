// Python bindings of the Hadamard transform: shapes are checked here, the work is done without the GIL.
#include "sketch/hadamard.h"

#include <cmath>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T> HadamardJob<T> job_of(const Matrix<T>& X, const OutMatrix<T>& out) {
    const long width = out.shape(1), columns = X.shape(1);
    require(width > 0 && (width & (width - 1)) == 0, "out must have a power of two of columns, not ", width);
    require(columns <= width && X.shape(0) == out.shape(0), "X of shape (", X.shape(0), ", ", columns,
            ") does not fit into out of shape (", out.shape(0), ", ", width, ")");
    return {X.data(),
            row_stride(X, "X"),
            columns,
            nullptr,
            1,
            out.data(),
            row_stride(out, "out"),
            width,
            long(out.shape(0)),
            T(1.0 / std::sqrt(double(width)))};
}

void run(const HadamardJob<float>& job) { MERCER_PICK(hadamard).f32(job); }
void run(const HadamardJob<double>& job) { MERCER_PICK(hadamard).f64(job); }

template <class T> void hadamard(Matrix<T> X, OutMatrix<T> out) {
    const auto job = job_of<T>(X, out);
    nb::gil_scoped_release unlocked;
    run(job);
}

template <class T> void hadamard_signs(Matrix<T> X, Rows<T> signs, OutMatrix<T> out) {
    auto job = job_of<T>(X, out);
    require(long(signs.shape(1)) == job.width && signs.shape(0) > 0, "signs must have at least one row and the ",
            job.width, " columns of out, not shape (", signs.shape(0), ", ", signs.shape(1), ")");
    job.signs = signs.data();
    job.rounds = signs.shape(0);
    nb::gil_scoped_release unlocked;
    run(job);
}

template <class T> void bind(nb::module_& m) {
    using namespace nb::literals;
    m.def("hadamard", hadamard<T>, "X"_a.noconvert(), "out"_a.noconvert());
    m.def("hadamard_signs", hadamard_signs<T>, "X"_a.noconvert(), "signs"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_hadamard(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
