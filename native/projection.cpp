// Python bindings of the block-hash projections: shapes are checked here, the work is done without the GIL.
#include "projection.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "fields.h"
#include "splitmix.h"

namespace nb = nanobind;

namespace {

using mercer::mix;

using mercer::BlockHash;
using mercer::Matrix;
using mercer::require;
using mercer::Vector;
template <class T> using Out = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class T> const mercer::ProjectionTable<T>& kernels();
template <> const mercer::ProjectionTable<float>& kernels<float>() { return MERCER_PICK(projection).f32; }
template <> const mercer::ProjectionTable<double>& kernels<double>() { return MERCER_PICK(projection).f64; }

template <class T> void check_out(const Out<T>& out, long nonzeros) {
    const long m = out.shape(1), rows = out.shape(0);
    require(nonzeros >= 1 && m >= 1 && m % nonzeros == 0,
            "out has " + std::to_string(m) + " columns, which " + std::to_string(nonzeros) +
                " nonzeros per column do not divide");
    require(m < 1l << 31, "out has " + std::to_string(m) + " columns; fewer than 2^31 are possible");
    require(rows == 0 || ((m == 1 || out.stride(1) == 1) && (rows == 1 || out.stride(0) >= m)),
            "out must have C-ordered rows; pass numpy.ascontiguousarray of it");
}

std::vector<uint64_t> mixed_block_seeds(long nonzeros) {
    std::vector<uint64_t> seeds(nonzeros);
    for (long i = 0; i < nonzeros; ++i) seeds[i] = mix(i);
    return seeds;
}

template <class T>
BlockHash<T> map_of(uint64_t seed, const std::vector<uint64_t>& block_seeds, bool with_signs, const Out<T>& out) {
    const long s = block_seeds.size();
    const uint64_t width = out.shape(1) / s;
    return {mix(seed), block_seeds.data(), s, width, with_signs, T(1.0 / std::sqrt(double(s))),
            mercer::fields_per_word(width)};
}

template <class T>
void sketch_dense(Matrix<T> X, uint64_t seed, long nonzeros, bool with_signs, Out<T> out) {
    check_out<T>(out, nonzeros);
    require(X.shape(0) == out.shape(0), "X has " + std::to_string(X.shape(0)) + " rows but out has " +
                                            std::to_string(out.shape(0)));
    const auto block_seeds = mixed_block_seeds(nonzeros);
    const mercer::DenseRows<T> rows{X.data(), long(X.shape(0)), long(X.shape(1)), long(X.stride(0)),
                                    long(X.stride(1))};
    const auto map = map_of<T>(seed, block_seeds, with_signs, out);
    nb::gil_scoped_release unlocked;
    kernels<T>().dense(map, rows, out.data(), out.stride(0));
}

template <class Index>
void check_rows(size_t entries, const Vector<Index>& indices, const Vector<Index>& indptr, size_t rows) {
    require(entries == indices.shape(0), "data and indices must be of one length, got " + std::to_string(entries) +
                                             " and " + std::to_string(indices.shape(0)));
    require(indptr.shape(0) == rows + 1, "indptr must have " + std::to_string(rows + 1) +
                                             " entries, one more than out has rows, not " +
                                             std::to_string(indptr.shape(0)));
    const Index* p = indptr.data();
    bool rising = p[0] >= 0 && static_cast<size_t>(p[rows]) <= entries;
    for (size_t i = 0; i < rows; ++i) rising &= p[i] <= p[i + 1];
    require(rising, "indptr must rise within 0 .. " + std::to_string(entries));
}

template <class T, class Index>
void sketch_csr(Vector<T> data, Vector<Index> indices, Vector<Index> indptr, uint64_t seed, long nonzeros,
                bool with_signs, Out<T> out) {
    check_out<T>(out, nonzeros);
    check_rows<Index>(data.shape(0), indices, indptr, out.shape(0));
    const auto block_seeds = mixed_block_seeds(nonzeros);
    const mercer::CsrRows<T, Index> rows{data.data(), indices.data(), indptr.data(), long(out.shape(0))};
    const auto map = map_of<T>(seed, block_seeds, with_signs, out);
    nb::gil_scoped_release unlocked;
    if constexpr (std::is_same_v<Index, int32_t>) kernels<T>().csr32(map, rows, out.data(), out.stride(0));
    else kernels<T>().csr64(map, rows, out.data(), out.stride(0));
}

template <class T> void bind_dense(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_dense", &sketch_dense<T>, "X"_a.noconvert(), "seed"_a, "nonzeros"_a, "with_signs"_a,
          "out"_a.noconvert());
}

template <class T, class Index> void bind_csr(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_csr", &sketch_csr<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "seed"_a, "nonzeros"_a, "with_signs"_a, "out"_a.noconvert());
}

}  // namespace

void bind_projection(nb::module_& m) {
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_csr<float, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<double, int64_t>(m);
}
