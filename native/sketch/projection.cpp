// Python bindings of the block-hash projections: shapes are checked here, the work is done without the GIL.
#include "sketch/projection.h"

#include <cmath>
#include <type_traits>
#include <vector>

#include "common/arrays.h"
#include "common/hash_fields.h"
#include "common/splitmix.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

template <class T> const ProjectionTable<T>& kernels();
template <> const ProjectionTable<float>& kernels<float>() { return MERCER_PICK(projection).f32; }
template <> const ProjectionTable<double>& kernels<double>() { return MERCER_PICK(projection).f64; }

template <class T> void check_out(const OutMatrix<T>& out, long nonzeros) {
    const long m = out.shape(1);
    require(nonzeros >= 1 && m >= 1 && m % nonzeros == 0, "out has ", m, " columns, which ", nonzeros,
            " nonzeros per column do not divide");
    require(m < 1l << 31, "out has ", m, " columns; fewer than 2^31 are possible");
    row_stride(out, "out");
}

std::vector<uint64_t> mixed_block_seeds(long nonzeros) {
    std::vector<uint64_t> seeds(nonzeros);
    for (long i = 0; i < nonzeros; ++i) seeds[i] = mix(i);
    return seeds;
}

template <class T>
BlockHash<T> map_of(uint64_t seed, const std::vector<uint64_t>& block_seeds, bool with_signs, const OutMatrix<T>& out) {
    const long s = block_seeds.size();
    const uint64_t width = out.shape(1) / s;
    return {mix(seed), block_seeds.data(), s, width, with_signs, T(1.0 / std::sqrt(double(s))), fields_per_word(width)};
}

template <class T>
void sketch_dense(Matrix<T> X, uint64_t seed, long nonzeros, bool with_signs, OutMatrix<T> out) {
    check_out<T>(out, nonzeros);
    require(X.shape(0) == out.shape(0), "X has ", X.shape(0), " rows but out has ", out.shape(0));
    const auto block_seeds = mixed_block_seeds(nonzeros);
    const DenseRows<T> rows{X.data(), long(X.shape(0)), long(X.shape(1)), long(X.stride(0)), long(X.stride(1))};
    const auto map = map_of<T>(seed, block_seeds, with_signs, out);
    nb::gil_scoped_release unlocked;
    kernels<T>().dense(map, rows, out.data(), out.stride(0));
}

template <class Index>
void check_rows(size_t entries, const Vector<Index>& indices, const Vector<Index>& indptr, size_t rows) {
    require(entries == indices.shape(0), "data and indices must be of one length, got ", entries, " and ",
            indices.shape(0));
    require(indptr.shape(0) == rows + 1, "indptr must have ", rows + 1, " entries, one more than out has rows, not ",
            indptr.shape(0));
    require(are_bounds(indptr.data(), rows + 1, entries), "indptr must rise within 0 .. ", entries);
}

template <class T, class Index>
void sketch_csr(Vector<T> data, Vector<Index> indices, Vector<Index> indptr, uint64_t seed, long nonzeros,
                bool with_signs, OutMatrix<T> out) {
    check_out<T>(out, nonzeros);
    check_rows<Index>(data.shape(0), indices, indptr, out.shape(0));
    const auto block_seeds = mixed_block_seeds(nonzeros);
    const CsrRows<T, Index> rows{data.data(), indices.data(), indptr.data(), long(out.shape(0))};
    const auto map = map_of<T>(seed, block_seeds, with_signs, out);
    nb::gil_scoped_release unlocked;
    if constexpr (std::is_same_v<Index, int32_t>) kernels<T>().csr32(map, rows, out.data(), out.stride(0));
    else kernels<T>().csr64(map, rows, out.data(), out.stride(0));
}

nb::tuple key_buckets(const Vector<uint64_t>& keys, int64_t nonzeros, int64_t n_components, bool with_signs) {
    require(nonzeros >= 1 && n_components >= nonzeros && n_components < int64_t{1} << 32,
            "nonzeros must lie within 1 .. n_components, n_components below 2**32.");
    const size_t n = keys.shape(0), s = static_cast<size_t>(nonzeros);
    const uint64_t width = static_cast<uint64_t>(n_components / nonzeros);
    std::vector<int64_t> buckets(n * s);
    std::vector<int8_t> signs(n * s);
    {
        nb::gil_scoped_release released;
        const size_t fields = static_cast<size_t>(fields_per_word(width)), bits = 64 / fields;
        std::vector<uint64_t> seeds((s + fields - 1) / fields);
        for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = mix(i);
        for (size_t k = 0; k < n; ++k) {
            uint64_t word = 0;
            for (size_t i = 0; i < s; ++i) {
                if (i % fields == 0) word = mix((keys.data()[k] ^ seeds[i / fields]) + 0x9E3779B97F4A7C15u);
                const uint64_t field = (word << (bits * (i % fields))) >> (64 - bits);
                buckets[k * s + i] = static_cast<int64_t>(((field * width) >> bits) + i * width);
                signs[k * s + i] = static_cast<int8_t>(with_signs ? 1 - 2 * static_cast<int>(field & 1) : 1);
            }
        }
    }
    return nb::make_tuple(owned_array(std::move(buckets), {n, s}), owned_array(std::move(signs), {n, s}));
}

template <class T> void bind_dense(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_dense", &sketch_dense<T>, "X"_a.noconvert(), "seed"_a, "nonzeros"_a, "with_signs"_a,
          "out"_a.noconvert());
}

template <class T, class Index> void bind_csr(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_csr", &sketch_csr<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
          "seed"_a, "nonzeros"_a, "with_signs"_a, "out"_a.noconvert());
}

}  // namespace

void bind_projection(nb::module_& m) {
    m.def("key_buckets", &key_buckets, nb::arg("keys"), nb::arg("nonzeros"), nb::arg("n_components"),
          nb::arg("with_signs") = true);
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_csr<float, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<double, int64_t>(m);
}
