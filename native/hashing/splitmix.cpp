// Compiled twins of mercer/_numeric/hashing/splitmix.py: splitmix64 on 64-bit keys, buckets, signs, hashes of rows.
#include "common/splitmix.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

constexpr uint64_t golden_gamma = 0x9E3779B97F4A7C15u;
constexpr uint64_t nan_key = 0x7FF8000000000000u;

inline uint64_t hash_key(uint64_t key, uint64_t mixed_seed = 0) { return mix((key ^ mixed_seed) + golden_gamma); }

inline uint64_t number_key(double x) {
    const uint64_t bits = std::bit_cast<uint64_t>(x + 0.0);  // the sum turns -0.0 into 0.0
    return x != x ? nan_key : bits;
}

// The term of x in the sum of its row; the mask avoids a branch that half-empty rows would mispredict.
inline uint64_t entry_hash(double x, uint64_t column_hash) {
    const uint64_t key = number_key(x);
    return hash_key(key ^ column_hash) & (0 - static_cast<uint64_t>(key != 0));
}

// Integers of any type and shape as contiguous 64-bit words, negative ones modulo 2^64.
using Words = nb::ndarray<const uint64_t, nb::c_contig, nb::device::cpu>;

Words words_of(nb::handle values) {
    nb::object array = nb::module_::import_("numpy").attr("asarray")(values);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "i" && kind != "u") {
        const auto name = nb::cast<std::string>(array.attr("dtype").attr("name"));
        throw nb::type_error(("keys and hashes must be integers, got an array of " + name + ".").c_str());
    }
    return nb::cast<Words>(array.attr("astype")("uint64", "C"));
}

uint64_t mixed_seed_of(nb::handle seed) {
    const nb::object low_bits = nb::int_(seed) & nb::int_(UINT64_MAX);
    return mix(nb::cast<uint64_t>(low_bits));
}

// An array of function(word) of the same shape.
template <class T, class Function>
nb::ndarray<nb::numpy, T> map_words(nb::handle values, Function function) {
    const Words words = words_of(values);
    std::vector<T> result(words.size());
    {
        nb::gil_scoped_release released;
        const uint64_t* from = words.data();
        for (size_t i = 0; i < result.size(); ++i) result[i] = function(from[i]);
    }
    std::vector<size_t> shape(words.ndim());
    for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] = words.shape(axis);
    return owned_array(std::move(result), shape);
}

nb::ndarray<nb::numpy, uint64_t> splitmix64(nb::handle keys, nb::handle seed) {
    const uint64_t mixed_seed = mixed_seed_of(seed);
    return map_words<uint64_t>(keys, [=](uint64_t key) { return hash_key(key, mixed_seed); });
}

nb::ndarray<nb::numpy, int64_t> buckets(nb::handle hashes, int64_t n_buckets) {
    require(n_buckets >= 1 && n_buckets <= int64_t{1} << 32, "n_buckets must be between 1 and 2**32, got ", n_buckets,
            ".");
    const uint64_t n = n_buckets;
    return map_words<int64_t>(hashes, [=](uint64_t h) { return static_cast<int64_t>(((h >> 32) * n) >> 32); });
}

nb::ndarray<nb::numpy, int8_t> signs(nb::handle hashes) {
    return map_words<int8_t>(hashes, [](uint64_t h) { return static_cast<int8_t>(1 - 2 * static_cast<int>(h & 1)); });
}

template <class T>
nb::ndarray<nb::numpy, uint64_t> hash_dense_rows(const Matrix<T>& X, nb::handle seed) {
    const size_t n = X.shape(0), d = X.shape(1);
    const int64_t row_step = X.stride(0), column_step = X.stride(1);
    const uint64_t mixed_seed = mixed_seed_of(seed);
    std::vector<uint64_t> hashes(n), column_hashes(d);
    {
        nb::gil_scoped_release released;
        for (size_t j = 0; j < d; ++j) column_hashes[j] = hash_key(j);
        for (size_t i = 0; i < n; ++i) {
            const T* row = X.data() + static_cast<int64_t>(i) * row_step;
            uint64_t sum = 0;
            for (size_t j = 0; j < d; ++j)
                sum += entry_hash(row[static_cast<int64_t>(j) * column_step], column_hashes[j]);
            hashes[i] = hash_key(sum, mixed_seed);
        }
    }
    return owned_array(std::move(hashes), {n});
}

nb::ndarray<nb::numpy, uint64_t> hash_keyed_rows(const std::vector<Vector<uint64_t>>& keys, nb::handle seed) {
    const size_t n = keys.empty() ? 0 : keys[0].shape(0);
    for (const auto& column : keys) require(column.shape(0) == n, "keys must hold as many words for each column.");
    const uint64_t mixed_seed = mixed_seed_of(seed);
    std::vector<uint64_t> hashes(n);
    {
        nb::gil_scoped_release released;
        for (size_t j = 0; j < keys.size(); ++j) {
            const uint64_t *from = keys[j].data(), column_hash = hash_key(j);
            for (size_t i = 0; i < n; ++i)
                hashes[i] += hash_key(from[i] ^ column_hash) & (0 - static_cast<uint64_t>(from[i] != 0));
        }
        for (size_t i = 0; i < n; ++i) hashes[i] = hash_key(hashes[i], mixed_seed);
    }
    return owned_array(std::move(hashes), {n});
}

struct IndexedHash {
    uint64_t hash;
    int64_t index;
};

inline bool before(const IndexedHash& a, const IndexedHash& b) { return a.hash < b.hash; }

// Stable sort of the words of a bin by hash; they arrive ordered by index.
void sort_bin(IndexedHash* begin, IndexedHash* end) {
    constexpr ptrdiff_t max_insertion = 24;
    if (end - begin > max_insertion) {
        const uint64_t hash = begin->hash;
        if (std::all_of(begin, end, [=](const IndexedHash& each) { return each.hash == hash; })) return;
        std::sort(begin, end, [](const IndexedHash& a, const IndexedHash& b) {
            return a.hash < b.hash || (a.hash == b.hash && a.index < b.index);
        });
        return;
    }
    for (IndexedHash* next = begin + 1; next < end; ++next) {
        const IndexedHash word = *next;
        IndexedHash* at = next;
        for (; at > begin && before(word, at[-1]); --at) *at = at[-1];
        *at = word;
    }
}

// Stable argsort. Hashes are uniform, so their highest bits leave few words per bin.
void order_hashes(const uint64_t* hashes, int64_t* order, size_t n) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(n)), 1, 16), shift = 64 - bits;
    std::vector<size_t> ends(size_t{1} << bits);
    std::vector<IndexedHash> words(n);
    for (size_t i = 0; i < n; ++i) ++ends[hashes[i] >> shift];
    size_t sum = 0;
    for (size_t& end : ends) sum += std::exchange(end, sum);
    for (size_t i = 0; i < n; ++i) words[ends[hashes[i] >> shift]++] = {hashes[i], static_cast<int64_t>(i)};
    size_t start = 0;
    for (const size_t end : ends) {
        if (end - start > 1) sort_bin(words.data() + start, words.data() + end);
        start = end;
    }
    for (size_t i = 0; i < n; ++i) order[i] = words[i].index;
}

nb::ndarray<nb::numpy, int64_t> hash_order(const Vector<uint64_t>& hashes) {
    std::vector<int64_t> order(hashes.shape(0));
    {
        nb::gil_scoped_release released;
        order_hashes(hashes.data(), order.data(), order.size());
    }
    const size_t n = order.size();
    return owned_array(std::move(order), {n});
}

template <class Index>
void check_csr(size_t n_data, const Vector<Index>& indices, const Vector<Index>& indptr) {
    require(n_data == indices.shape(0), "data and indices must be of one length, got ", n_data, " and ",
            indices.shape(0), ".");
    require(are_bounds(indptr.data(), indptr.shape(0), n_data),
            "indptr must have an entry per row and one more, rising within 0 .. ", n_data, ".");
}

template <class T, class Index>
nb::ndarray<nb::numpy, uint64_t> hash_csr_rows(const Vector<T>& data, const Vector<Index>& indices,
                                               const Vector<Index>& indptr, nb::handle seed) {
    check_csr<Index>(data.shape(0), indices, indptr);
    const uint64_t mixed_seed = mixed_seed_of(seed);
    const size_t n = indptr.shape(0) - 1;
    std::vector<uint64_t> hashes(n);
    {
        nb::gil_scoped_release released;
        const T* x = data.data();
        const Index *column = indices.data(), *start = indptr.data();
        for (size_t i = 0; i < n; ++i) {
            uint64_t sum = 0;
            for (Index k = start[i]; k < start[i + 1]; ++k)
                sum += entry_hash(x[k], hash_key(static_cast<uint64_t>(static_cast<int64_t>(column[k]))));
            hashes[i] = hash_key(sum, mixed_seed);
        }
    }
    return owned_array(std::move(hashes), {n});
}

template <class T, class Index>
void bind_csr(nb::module_& m) {
    m.def("hash_csr_rows", &hash_csr_rows<T, Index>, nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
          nb::arg("seed") = 0);
}

}  // namespace

void bind_splitmix(nb::module_& m) {
    m.def("splitmix64", &splitmix64, nb::arg("keys"), nb::arg("seed") = 0);
    m.def("buckets", &buckets, nb::arg("hashes"), nb::arg("n_buckets"));
    m.def("signs", &signs, nb::arg("hashes"));
    m.def("hash_dense_rows", &hash_dense_rows<double>, nb::arg("X"), nb::arg("seed") = 0);
    m.def("hash_dense_rows", &hash_dense_rows<float>, nb::arg("X"), nb::arg("seed") = 0);
    m.def("hash_keyed_rows", &hash_keyed_rows, nb::arg("keys"), nb::arg("seed") = 0);
    m.def("hash_order", &hash_order, nb::arg("hashes"));
    bind_csr<double, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<float, int32_t>(m);
}
