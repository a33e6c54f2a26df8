// Python bindings of the Hadamard transform: shapes are checked here, the work is done without the GIL.
#include "sketch/hadamard.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <string>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using mercer::require;
template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T> using Contiguous = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class Array> long row_stride(const Array& array, const char* name) {
    const long rows = array.shape(0), columns = array.shape(1);
    require(rows == 0 || ((columns <= 1 || array.stride(1) == 1) && (rows == 1 || array.stride(0) >= columns)),
            std::string(name) + " must have C-ordered rows; pass numpy.ascontiguousarray of it");
    return rows <= 1 ? columns : long(array.stride(0));
}

template <class T> mercer::HadamardJob<T> job_of(const Matrix<T>& X, const Out<T>& out) {
    const long width = out.shape(1), columns = X.shape(1);
    require(width > 0 && (width & (width - 1)) == 0,
            "out must have a power of two of columns, not " + std::to_string(width));
    require(columns <= width && X.shape(0) == out.shape(0),
            "X of shape (" + std::to_string(X.shape(0)) + ", " + std::to_string(columns) +
                ") does not fit into out of shape (" + std::to_string(out.shape(0)) + ", " + std::to_string(width) +
                ")");
    return {X.data(), row_stride(X, "X"), columns, nullptr, 1, out.data(), row_stride(out, "out"), width,
            long(out.shape(0)), T(1.0 / std::sqrt(double(width)))};
}

void run(const mercer::HadamardJob<float>& job) { MERCER_PICK(hadamard).f32(job); }
void run(const mercer::HadamardJob<double>& job) { MERCER_PICK(hadamard).f64(job); }

template <class T> void hadamard(Matrix<T> X, Out<T> out) {
    const auto job = job_of<T>(X, out);
    nb::gil_scoped_release unlocked;
    run(job);
}

template <class T> void hadamard_signs(Matrix<T> X, Contiguous<T> signs, Out<T> out) {
    auto job = job_of<T>(X, out);
    require(long(signs.shape(1)) == job.width && signs.shape(0) > 0,
            "signs must have at least one row and the " + std::to_string(job.width) + " columns of out, not shape (" +
                std::to_string(signs.shape(0)) + ", " + std::to_string(signs.shape(1)) + ")");
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
