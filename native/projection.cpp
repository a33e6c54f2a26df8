// Compiled twins of mercer/_numeric/projection.py: block-hash projections of dense and CSR rows.
//
// A row is finished before the next one begins, with its columns in order, so its bits depend on nothing but the row.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.h"

namespace nb = nanobind;

namespace {

using mercer::Matrix;
using mercer::Vector;
template <class T> using Out = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

constexpr uint64_t golden_gamma = 0x9E3779B97F4A7C15u;
constexpr size_t dense_rows = 32, dense_columns = 512;  // sums of a block stay in the second-level cache
constexpr size_t largest_table = size_t{1} << 17;       // entries; beyond, hashing again is as quick as remembering

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

inline uint64_t hash_key(uint64_t key, uint64_t mixed_seed) { return mix((key ^ mixed_seed) + golden_gamma); }

void require(bool holds, const std::string& message) {
    if (!holds) throw nb::value_error(message.c_str());
}

// The value with its sign flipped if bit 0 of `word` is set: no branch, which random signs would mispredict.
template <class T> inline T flipped(T value, uint64_t word) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return std::bit_cast<T>(std::bit_cast<Word>(value) ^ (Word(word & 1) << (8 * sizeof(T) - 1)));
}

// Where column j goes: the place and the sign bit of each of its nonzeros, 2 * place + sign.
class Places {
public:
    Places(uint64_t seed, long nonzeros, long m, bool with_signs)
        : seed_(mix(seed)), width_(m / nonzeros), sign_mask_(with_signs), block_seeds_(nonzeros) {
        for (long i = 0; i < nonzeros; ++i) block_seeds_[i] = mix(i);
    }
    size_t nonzeros() const { return block_seeds_.size(); }
    void of(uint64_t column, uint32_t* places) const {
        const uint64_t key = hash_key(column, seed_);
        uint64_t offset = 0;
        for (size_t i = 0; i < block_seeds_.size(); ++i, offset += width_) {
            const uint64_t h = hash_key(key, block_seeds_[i]);
            places[i] = uint32_t(2 * (offset + (((h >> 32) * width_) >> 32)) + (h & sign_mask_));
        }
    }

private:
    uint64_t seed_, width_, sign_mask_;
    std::vector<uint64_t> block_seeds_;
};

template <class T> inline void add(T* row, const uint32_t* places, size_t nonzeros, T value) {
    for (size_t i = 0; i < nonzeros; ++i) row[places[i] >> 1] += flipped(value, places[i]);
}

template <class T> Places checked(const Out<T>& out, uint64_t seed, long nonzeros, bool with_signs) {
    const long m = out.shape(1);
    require(nonzeros >= 1 && m >= 1 && m % nonzeros == 0,
            "out has " + std::to_string(m) + " columns, which " + std::to_string(nonzeros) +
                " nonzeros per column do not divide");
    require(m < 1l << 31, "out has " + std::to_string(m) + " columns; fewer than 2^31 are possible");
    require(out.shape(0) == 0 || ((m <= 1 || out.stride(1) == 1) && (out.shape(0) == 1 || out.stride(0) >= m)),
            "out must have C-ordered rows; pass numpy.ascontiguousarray of it");
    return Places(seed, nonzeros, m, with_signs);
}

template <class T> T scale_of(const Places& places) { return T(1.0 / std::sqrt(double(places.nonzeros()))); }

template <class T>
void sketch_dense(Matrix<T> X, uint64_t seed, long nonzeros, bool with_signs, Out<T> out) {
    const Places places = checked<T>(out, seed, nonzeros, with_signs);
    require(X.shape(0) == out.shape(0), "X has " + std::to_string(X.shape(0)) + " rows but out has " +
                                            std::to_string(out.shape(0)));
    const size_t n = X.shape(0), d = X.shape(1), m = out.shape(1), s = nonzeros;
    const int64_t row_step = X.stride(0), column_step = X.stride(1), out_step = out.stride(0);
    const T scale = scale_of<T>(places);
    const T* x = X.data();
    T* y = out.data();
    nb::gil_scoped_release unlocked;
    std::vector<uint32_t> table((d < dense_columns ? d : dense_columns) * s);
    for (size_t top = 0; top < n; top += dense_rows) {
        const size_t bottom = top + dense_rows < n ? top + dense_rows : n;
        for (size_t i = top; i < bottom; ++i) std::memset(y + int64_t(i) * out_step, 0, m * sizeof(T));
        for (size_t left = 0; left < d; left += dense_columns) {
            const size_t right = left + dense_columns < d ? left + dense_columns : d;
            if (top == 0 || d > dense_columns)
                for (size_t j = left; j < right; ++j) places.of(j, table.data() + (j - left) * s);
            for (size_t i = top; i < bottom; ++i) {
                const T* row = x + int64_t(i) * row_step;
                for (size_t j = left; j < right; ++j)
                    add(y + int64_t(i) * out_step, table.data() + (j - left) * s, s,
                        row[int64_t(j) * column_step] * scale);
            }
        }
    }
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

// The places of every column below `columns`, if they are few and used often enough to be worth remembering.
std::vector<uint32_t> table_of(const Places& places, size_t columns, size_t uses) {
    if (columns * places.nonzeros() > largest_table || uses < 2 * columns) return {};
    std::vector<uint32_t> table(columns * places.nonzeros());
    for (size_t j = 0; j < columns; ++j) places.of(j, table.data() + j * places.nonzeros());
    return table;
}

template <class T, class Index>
void sketch_csr(Vector<T> data, Vector<Index> indices, Vector<Index> indptr, uint64_t n_columns, uint64_t seed,
                long nonzeros, bool with_signs, Out<T> out) {
    const Places places = checked<T>(out, seed, nonzeros, with_signs);
    const size_t n = out.shape(0), m = out.shape(1), s = nonzeros;
    check_rows<Index>(data.shape(0), indices, indptr, n);
    const int64_t out_step = out.stride(0);
    const T scale = scale_of<T>(places);
    const T* x = data.data();
    const Index *columns = indices.data(), *start = indptr.data();
    T* y = out.data();
    nb::gil_scoped_release unlocked;
    const std::vector<uint32_t> table = table_of(places, n_columns, start[n] - start[0]);
    std::vector<uint32_t> fresh(s);
    for (size_t i = 0; i < n; ++i, y += out_step) {
        std::memset(y, 0, m * sizeof(T));
        for (Index k = start[i]; k < start[i + 1]; ++k) {
            const uint64_t column = static_cast<uint64_t>(static_cast<int64_t>(columns[k]));
            const uint32_t* at = fresh.data();
            if (column < n_columns && !table.empty()) at = table.data() + column * s;
            else places.of(column, fresh.data());
            add(y, at, s, x[k] * scale);
        }
    }
}

template <class T> void bind_dense(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_dense", &sketch_dense<T>, "X"_a.noconvert(), "seed"_a, "nonzeros"_a, "with_signs"_a,
          "out"_a.noconvert());
}

template <class T, class Index> void bind_csr(nb::module_& m) {
    using namespace nb::literals;
    m.def("sketch_csr", &sketch_csr<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "n_columns"_a, "seed"_a, "nonzeros"_a, "with_signs"_a, "out"_a.noconvert());
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
