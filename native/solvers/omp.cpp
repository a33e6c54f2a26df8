// Compiled twin of mercer/_numeric/solvers/omp.py: sparse codes by orthogonal pursuit.
#include "solvers/omp.h"

#include <stdexcept>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutRows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void encode(const PursuitBlock<float>& block) { MERCER_PICK(pursuit).encode_f32(block); }
void encode(const PursuitBlock<double>& block) { MERCER_PICK(pursuit).encode_f64(block); }

template <class T>
void pursue(OutRows<T> correlations, const Rows<T>& gram, bool orthogonal, double floor, OutRows<int32_t> indices,
            OutRows<T> values, Counts counts) {
    const size_t n = correlations.shape(0), width = correlations.shape(1), nonzeros = indices.shape(1);
    if (width % pursuit_width || width == 0 || gram.shape(0) != width || gram.shape(1) != width)
        throw std::invalid_argument("correlations and gram must have a multiple of 64 columns, gram as many rows.");
    if (indices.shape(0) != n || values.shape(0) != n || values.shape(1) != nonzeros || counts.shape(0) != n)
        throw std::invalid_argument("indices, values and counts must have one row for each row of correlations.");
    if (nonzeros == 0) throw std::invalid_argument("at least one atom must be allowed.");
    nb::gil_scoped_release released;
    const long k = static_cast<long>(nonzeros), wide = static_cast<long>(width);
    std::vector<char> room(pursuit_group * pursuit_room<T>(k, wide) + (width + nonzeros) * sizeof(T) + 64);
    char* aligned = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64);
    encode({static_cast<long>(n), wide, k, orthogonal, floor, correlations.data(), gram.data(), indices.data(),
            values.data(), counts.data(), aligned});
}

template <class T>
void bind(nb::module_& m) {
    m.def("pursue", &pursue<T>, nb::arg("correlations"), nb::arg("gram"), nb::arg("orthogonal"), nb::arg("floor"),
          nb::arg("indices"), nb::arg("values"), nb::arg("counts"));
}

}  // namespace

void bind_omp(nb::module_& m) {
    bind<double>(m);
    bind<float>(m);
}
