// Compiled twin of mercer/_numeric/solvers/omp.py: sparse coding by orthogonal matching pursuit.
#include "solvers/omp.h"

#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

void encode(const PursuitBlock<float>& block) { MERCER_PICK(pursuit).encode_f32(block); }
void encode(const PursuitBlock<double>& block) { MERCER_PICK(pursuit).encode_f64(block); }

template <class T>
void sparse_encode(OutRows<T> correlations, const Rows<T>& gram, bool orthogonal, double floor,
                   OutRows<int32_t> indices, OutRows<T> values, OutVector<int64_t> counts) {
    const size_t n = correlations.shape(0), width = correlations.shape(1), nonzeros = indices.shape(1);
    require(width != 0 && width % pursuit_width == 0 && gram.shape(0) == width && gram.shape(1) == width,
            "correlations and gram must have a multiple of 64 columns, gram as many rows.");
    require(indices.shape(0) == n && values.shape(0) == n && values.shape(1) == nonzeros && counts.shape(0) == n,
            "indices, values and counts must have one row for each row of correlations.");
    require(nonzeros != 0, "at least one atom must be allowed.");
    nb::gil_scoped_release released;
    const long k = static_cast<long>(nonzeros), wide = static_cast<long>(width);
    std::vector<char> workspace(pursuit_group * pursuit_workspace<T>(k, wide) + (width + nonzeros) * sizeof(T) + 64);
    char* aligned = workspace.data() + (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64);
    encode({static_cast<long>(n), wide, k, orthogonal, floor, correlations.data(), gram.data(), indices.data(),
            values.data(), counts.data(), aligned});
}

template <class T>
void bind(nb::module_& m) {
    m.def("sparse_encode", &sparse_encode<T>, nb::arg("correlations"), nb::arg("gram"), nb::arg("orthogonal"),
          nb::arg("floor"), nb::arg("indices"), nb::arg("values"), nb::arg("counts"));
}

}  // namespace

void bind_omp(nb::module_& m) {
    bind<double>(m);
    bind<float>(m);
}
