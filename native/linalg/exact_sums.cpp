// Compiled twins of mercer/_numeric/linalg/exact_sums.py: exact sums of w x and w x^2 per column, in limbs of radix
// 2^32.
//
// Without weights, entries are first gathered by exponent: all mantissas of one column and one exponent add up in a
// 128-bit integer, with no shift, and each such total is deposited into the limbs once. Weighted and sparse entries
// are deposited one by one. Both are exact, so both end in the same canonical limbs.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "common/arrays.h"
#include "linalg/limbs.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Weight = std::optional<Vector<double>>;

// The two sums, wide enough for the given ranges of values and weights.
struct PowerSums {
    Limbs first, second;

    static PowerSums of(size_t n_columns, const Range& x, const Range* w) {
        const bool nothing = x.empty() || (w && w->empty());
        const int low = nothing ? 0 : x.lowest() - 1075, high = nothing ? 0 : x.highest() - 1075;
        const int w_low = nothing || !w ? 0 : w->lowest() - 1075, w_high = nothing || !w ? 0 : w->highest() - 1075;
        return {Limbs(n_columns, low + w_low, high + w_high, 2),
                Limbs(n_columns, 2 * low + w_low, 2 * high + w_high, 3)};
    }

    void add(size_t column, double x) {
        const uint64_t magnitude = magnitude_bits(x), m = mantissa_of(magnitude);
        if (m == 0) return;
        const int exponent = exponent_of(magnitude) - 1075;
        first.deposit<1>(column, {m}, x < 0, exponent);
        second.deposit<2>(column, words_of(static_cast<uint128>(m) * m).word, false, 2 * exponent);
    }

    void add_weighted(size_t column, double x, uint64_t weight, int weight_exponent) {
        const uint64_t magnitude = magnitude_bits(x), m = mantissa_of(magnitude);
        if (m == 0) return;
        const int exponent = exponent_of(magnitude) - 1075;
        const uint128 wx = static_cast<uint128>(m) * weight;
        const uint128 lower = static_cast<uint128>(static_cast<uint64_t>(wx)) * m;
        const uint128 upper = (wx >> 64) * m + (lower >> 64);
        const Words upper_words = words_of(upper);
        first.deposit<2>(column, words_of(wx).word, x < 0, exponent + weight_exponent);
        second.deposit<3>(column, {static_cast<uint64_t>(lower), upper_words.word[0], upper_words.word[1]}, false,
                          2 * exponent + weight_exponent);
    }

    void carry() {
        first.carry();
        second.carry();
    }

    void make_canonical() {
        first.make_canonical();
        second.make_canonical();
    }

    nb::tuple take() {
        return nb::make_tuple(first.low(), owned_array(first.take(), first.shape()), second.low(),
                              owned_array(second.take(), second.shape()));
    }
};

// ---- dense, no weights: gather by exponent

struct Bin {
    int128 first;    // of |x| < 2^53 mantissas, signed
    uint128 second;  // of squares < 2^106: no overflow up to 2^22 rows
};
constexpr size_t rows_per_chunk = size_t{1} << 21;

// A dense block by rows and columns, in any memory order.
template <class T>
struct Block {
    const T* data;
    size_t n_rows, n_columns;
    int64_t row_step, column_step;

    explicit Block(const Matrix<T>& X)
        : data(X.data()), n_rows(X.shape(0)), n_columns(X.shape(1)), row_step(X.stride(0)), column_step(X.stride(1)) {}

    // Columns to walk side by side: a cache line or two of a row, or one column where columns are contiguous.
    size_t tile() const { return std::abs(column_step) <= std::abs(row_step) ? 16 : 1; }

    double at(size_t i, size_t j) const {
        return data[static_cast<int64_t>(i) * row_step + static_cast<int64_t>(j) * column_step];
    }
};

template <class T>
void gather(const Block<T>& X, size_t row, size_t row_end, size_t column, size_t n_tile, int lowest, size_t n_exponents,
            Bin* bins) {
    for (size_t i = row; i < row_end; ++i)
        for (size_t j = 0; j < n_tile; ++j) {
            const double x = X.at(i, column + j);
            const uint64_t magnitude = magnitude_bits(x);
            const uint64_t m = mantissa_of(magnitude);
            const int exponent = std::max<int>(magnitude >> 52, lowest);  // zero adds nothing to any bin
            Bin& bin = bins[j * n_exponents + (exponent - lowest)];
            const int64_t sign = std::bit_cast<int64_t>(x) >> 63;
            bin.first += (static_cast<int64_t>(m) ^ sign) - sign;
            bin.second += static_cast<uint128>(m) * m;
        }
}

void deposit_bins(const Bin* bins, size_t column, int lowest, size_t n_exponents, PowerSums& sums) {
    for (size_t p = 0; p < n_exponents; ++p) {
        if (bins[p].second == 0) continue;
        const int exponent = lowest + static_cast<int>(p) - 1075;
        const bool negative = bins[p].first < 0;
        const uint128 size = negative ? -static_cast<uint128>(bins[p].first) : static_cast<uint128>(bins[p].first);
        sums.first.deposit<2>(column, words_of(size).word, negative, exponent);
        sums.second.deposit<2>(column, words_of(bins[p].second).word, false, 2 * exponent);
    }
}

template <class T>
void add_dense(const Block<T>& X, const std::vector<Range>& ranges, PowerSums& sums) {
    std::vector<Bin> bins;
    for (size_t column = 0; column < X.n_columns; column += X.tile()) {
        const size_t n_tile = std::min(X.tile(), X.n_columns - column);
        Range range;
        for (size_t j = 0; j < n_tile; ++j) range.include(ranges[column + j]);
        if (range.empty()) continue;
        const int lowest = range.lowest();
        const size_t n_exponents = range.highest() - lowest + 1;
        for (size_t row = 0; row < X.n_rows; row += rows_per_chunk) {
            bins.assign(n_tile * n_exponents, Bin{});
            gather(X, row, std::min(row + rows_per_chunk, X.n_rows), column, n_tile, lowest, n_exponents, bins.data());
            for (size_t j = 0; j < n_tile; ++j)
                deposit_bins(bins.data() + j * n_exponents, column + j, lowest, n_exponents, sums);
        }
    }
}

// ---- entry by entry

constexpr size_t entries_per_carry = size_t{1} << 28;

template <class T>
void add_dense_weighted(const Block<T>& X, const double* weight, PowerSums& sums) {
    for (size_t i = 0; i < X.n_rows; ++i) {
        if ((i + 1) % entries_per_carry == 0) sums.carry();
        const uint64_t w = magnitude_bits(weight[i]);
        if (w == 0) continue;
        for (size_t j = 0; j < X.n_columns; ++j)
            sums.add_weighted(j, X.at(i, j), mantissa_of(w), exponent_of(w) - 1075);
    }
}

template <class T, class Index>
void add_entries(const T* data, const Index* column, size_t n, const double* weight, PowerSums& sums) {
    for (size_t k = 0; k < n; ++k) {
        if ((k + 1) % entries_per_carry == 0) sums.carry();
        const uint64_t w = weight ? magnitude_bits(weight[k]) : 0;
        if (!weight) sums.add(column[k], data[k]);
        else if (w != 0) sums.add_weighted(column[k], data[k], mantissa_of(w), exponent_of(w) - 1075);
    }
}

// ---- checks

Range checked_weight(const Weight& weight, size_t n, const char* what) {
    Range range;
    if (!weight) return range;
    require(weight->shape(0) == n, "weight must have one number for each of ", n, " ", what, ", got shape (",
            weight->shape(0), ",).");
    for (size_t i = 0; i < n; ++i) {
        const double w = weight->data()[i];
        require(w >= 0 && magnitude_bits(w) < infinity_bits, "weight[", i, "] must be finite and not negative.");
        range.include(w);
    }
    return range;
}

template <class T>
void refuse_first_infinite(const Block<T>& X) {
    for (size_t i = 0; i < X.n_rows; ++i)
        for (size_t j = 0; j < X.n_columns; ++j)
            require(magnitude_bits(X.at(i, j)) < infinity_bits, "X[", i, ", ", j,
                    "] is not finite: exact sums need finite values.");
}

template <class T>
std::vector<Range> column_ranges(const Block<T>& X) {
    std::vector<Range> ranges(X.n_columns);
    for (size_t column = 0; column < X.n_columns; column += X.tile()) {
        const size_t end = std::min(column + X.tile(), X.n_columns);
        for (size_t i = 0; i < X.n_rows; ++i)
            for (size_t j = column; j < end; ++j) ranges[j].include(X.at(i, j));
    }
    return ranges;
}

template <class T, class Index>
Range checked_entries(const T* data, const Index* indices, size_t n, int64_t n_columns) {
    Range range;
    for (size_t k = 0; k < n; ++k) {
        require(indices[k] >= 0 && indices[k] < n_columns, "indices[", k, "] is outside of 0 .. ", n_columns - 1, ".");
        range.include(data[k]);
    }
    for (size_t k = 0; k < n && !range.finite(); ++k)
        require(magnitude_bits(data[k]) < infinity_bits, "data[", k, "], in column ", indices[k],
                ", is not finite: exact sums need finite values.");
    return range;
}

// ---- bound functions

template <class T>
PowerSums dense_power_sums(const Block<T>& X, const Weight& weight) {
    const Range weights = checked_weight(weight, X.n_rows, "rows");
    const std::vector<Range> ranges = column_ranges(X);
    Range all;
    for (const Range& range : ranges) all.include(range);
    if (!all.finite()) refuse_first_infinite(X);
    PowerSums sums = PowerSums::of(X.n_columns, all, weight ? &weights : nullptr);
    if (weight) add_dense_weighted(X, weight->data(), sums);
    else add_dense(X, ranges, sums);
    sums.make_canonical();
    return sums;
}

template <class T>
nb::tuple exact_power_sums(const Matrix<T>& X, const Weight& weight) {
    std::optional<PowerSums> sums;
    {
        nb::gil_scoped_release released;
        sums.emplace(dense_power_sums(Block<T>(X), weight));
    }
    return sums->take();
}

template <class T, class Index>
nb::tuple exact_power_sums_csr(const Vector<T>& data, const Vector<Index>& indices, int64_t n_columns,
                               const Weight& weight) {
    const size_t n = data.shape(0);
    require(n == indices.shape(0), "data and indices must be of one length, got ", n, " and ", indices.shape(0), ".");
    std::optional<PowerSums> sums;
    {
        nb::gil_scoped_release released;
        const Range weights = checked_weight(weight, n, "entries");
        const Range range = checked_entries(data.data(), indices.data(), n, n_columns);
        sums.emplace(PowerSums::of(n_columns, range, weight ? &weights : nullptr));
        add_entries(data.data(), indices.data(), n, weight ? weight->data() : nullptr, *sums);
        sums->make_canonical();
    }
    return sums->take();
}

template <class T>
void bind_dense(nb::module_& m) {
    m.def("exact_power_sums", &exact_power_sums<T>, nb::arg("X"), nb::arg("weight").none() = nb::none());
}

template <class T, class Index>
void bind_csr(nb::module_& m) {
    m.def("exact_power_sums_csr", &exact_power_sums_csr<T, Index>, nb::arg("data"), nb::arg("indices"),
          nb::arg("n_columns"), nb::arg("weight").none() = nb::none());
}

}  // namespace

void bind_exact_sums(nb::module_& m) {
    bind_dense<double>(m);
    bind_dense<float>(m);
    bind_csr<double, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<float, int32_t>(m);
}
