// Python bindings of the trigonometric kernels: shapes are checked here, the work is done without the GIL.
#include "sketch/trig.h"

#include <new>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T> using Packed = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr double turns_per_radian = 0.15915494309189533577;

template <class T> const TrigTable<T>& kernels();
template <> const TrigTable<float>& kernels<float>() { return MERCER_PICK(trig).f32; }
template <> const TrigTable<double>& kernels<double>() { return MERCER_PICK(trig).f64; }

template <class T, class Array> RowsView<T> rows(const Array& array, const char* name) {
    return {array.data(), long(array.shape(0)), long(array.shape(1)), row_stride(array, name)};
}

template <class T> RowsView<T> output(const OutMatrix<T>& out, long count, long columns) {
    const RowsView<T> result = rows<T>(out, "out");
    require(result.count == count && result.columns == columns, "out has shape (", result.count, ", ", result.columns,
            ") but the result has (", count, ", ", columns, ")");
    return result;
}

long panels_for(long frequencies, long width) { return (frequencies + width - 1) / width; }

template <class T> Panels<T> panels(const Packed<T>& packed, long frequencies, long depth) {
    const long width = kernels<T>().panel_width;
    require(
        long(packed.shape(2)) == width && frequencies >= 0 && long(packed.shape(0)) == panels_for(frequencies, width),
        "packed does not hold ", frequencies,
        " frequencies in this machine's layout; make it here with pack_frequencies(W)");
    require(long(packed.shape(1)) == depth, "X has ", depth, " columns but the frequencies have ", packed.shape(1));
    return {packed.data(), frequencies, depth};
}

template <class T> void cos_sin(Matrix<T> arguments, double scale, OutMatrix<T> out) {
    const auto from = rows<const T>(arguments, "arguments");
    const auto to = output<T>(out, from.count, 2 * from.columns);
    nb::gil_scoped_release unlocked;
    kernels<T>().cos_sin(from, T(scale), to);
}

template <class T> void cos_shifted(Matrix<T> arguments, Vector<T> shift, double scale, OutMatrix<T> out) {
    const auto from = rows<const T>(arguments, "arguments");
    const auto to = output<T>(out, from.count, from.columns);
    require(long(shift.shape(0)) == from.columns, "shift must have one entry per column of arguments");
    nb::gil_scoped_release unlocked;
    kernels<T>().cos_shifted(from, shift.data(), T(scale), to);
}

// Panels of frequencies in turns; whole cache lines, so that a panel never shares one.
template <class T> nb::object pack_frequencies(Rows<T> W) {
    const size_t count = W.shape(0), depth = W.shape(1), width = kernels<T>().panel_width;
    const size_t panels = panels_for(count, width);
    constexpr std::align_val_t line{64};
    T* packed = new (line) T[panels * depth * width + 1]();
    nb::capsule owner(packed, [](void* data) noexcept { ::operator delete[](data, std::align_val_t{64}); });
    for (size_t j = 0; j < count; ++j) {
        T* panel = packed + (j / width) * depth * width + j % width;
        for (size_t k = 0; k < depth; ++k) panel[k * width] = T(W.data()[j * depth + k] * turns_per_radian);
    }
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<3>>(packed, {panels, depth, width}, owner));
}

template <class T>
void fourier_cos_sin(Rows<T> X, Packed<T> packed, long n_frequencies, double scale, OutMatrix<T> out) {
    const auto x = rows<const T>(X, "X");
    const auto w = panels<T>(packed, n_frequencies, x.columns);
    const auto to = output<T>(out, x.count, 2 * n_frequencies);
    nb::gil_scoped_release unlocked;
    kernels<T>().fourier_cos_sin(x, w, T(scale), to);
}

template <class T>
void fourier_cos_shifted(Rows<T> X, Packed<T> packed, Vector<T> shift, double scale, OutMatrix<T> out) {
    const auto x = rows<const T>(X, "X");
    const auto w = panels<T>(packed, shift.shape(0), x.columns);
    const auto to = output<T>(out, x.count, w.columns);
    const long width = kernels<T>().panel_width;
    std::vector<T> turns(panels_for(w.columns, width) * width);
    for (long j = 0; j < w.columns; ++j) turns[j] = T(shift.data()[j] * turns_per_radian);
    nb::gil_scoped_release unlocked;
    kernels<T>().fourier_cos_shifted(x, w, turns.data(), T(scale), to);
}

template <class T> void bind(nb::module_& m) {
    using namespace nb::literals;
    m.def("cos_sin", cos_sin<T>, "arguments"_a.noconvert(), "scale"_a, "out"_a.noconvert());
    m.def("cos_shifted", cos_shifted<T>, "arguments"_a.noconvert(), "shift"_a.noconvert(), "scale"_a,
          "out"_a.noconvert());
    m.def("pack_frequencies", pack_frequencies<T>, "W"_a.noconvert());
    m.def("fourier_cos_sin", fourier_cos_sin<T>, "X"_a.noconvert(), "packed"_a.noconvert(), "n_frequencies"_a,
          "scale"_a, "out"_a.noconvert());
    m.def("fourier_cos_shifted", fourier_cos_shifted<T>, "X"_a.noconvert(), "packed"_a.noconvert(),
          "shift"_a.noconvert(), "scale"_a, "out"_a.noconvert());
}

}  // namespace

void bind_trig(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
