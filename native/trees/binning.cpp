// Compiled twin of mercer/_numeric/trees/binning.py: bin indices of the values of columns among sorted cuts, as bytes.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

constexpr size_t lanes = 8, block = 512;
constexpr int64_t max_cuts = 255;

// Whether x lies above the cut; NaN lies above all cuts.
template <bool right>
inline bool is_above(double x, double cut) {
    return right ? !(x < cut) : !(cut >= x);
}

// The number of cuts below each value: a branch-free binary search, several values at a time.
template <bool right>
void search(const double* cuts, size_t n_cuts, const double* values, size_t n_values, uint8_t* out, size_t step) {
    for (size_t first = 0; first < n_values; first += lanes) {
        const size_t n = std::min(lanes, n_values - first);
        double x[lanes] = {};
        size_t index[lanes] = {};
        std::copy_n(values + first, n, x);
        for (size_t left = n_cuts; left > 0;) {
            const size_t half = (left + 1) / 2;
            for (size_t lane = 0; lane < lanes; ++lane)
                index[lane] += half & (0 - static_cast<size_t>(is_above<right>(x[lane], cuts[index[lane] + half - 1])));
            left -= half;
        }
        for (size_t lane = 0; lane < n; ++lane) out[(first + lane) * step] = static_cast<uint8_t>(index[lane]);
    }
}

template <bool right>
void bin_rows(const Matrix<double>& X, const double* cuts, const int64_t* ends, uint8_t* bins) {
    const size_t n = X.shape(0), d = X.shape(1);
    double values[block];
    for (size_t start = 0; start < n; start += block) {
        const size_t rows = std::min(block, n - start);
        for (size_t j = 0; j < d; ++j) {
            const double* from =
                X.data() + static_cast<int64_t>(start) * X.stride(0) + static_cast<int64_t>(j) * X.stride(1);
            for (size_t i = 0; i < rows; ++i) values[i] = from[static_cast<int64_t>(i) * X.stride(0)];
            const int64_t begin = j ? ends[j - 1] : 0;
            search<right>(cuts + begin, ends[j] - begin, values, rows, bins + start * d + j, d);
        }
    }
}

nb::ndarray<nb::numpy, uint8_t> column_bins(Matrix<double> X, Vector<double> cuts, Vector<int64_t> ends, bool right) {
    const size_t n = X.shape(0), d = X.shape(1);
    require(ends.shape(0) == d, "ends must have an entry per column of X");
    int64_t before = 0;
    for (size_t j = 0; j < d; ++j) {
        const int64_t end = ends.data()[j];
        require(before <= end && end - before <= max_cuts, "ends must rise by at most 255, the cuts of a column");
        before = end;
    }
    require(before == static_cast<int64_t>(cuts.shape(0)), "the last of ends must be the number of cuts");
    std::vector<uint8_t> bins(n * d);
    {
        nb::gil_scoped_release released;
        if (right) bin_rows<true>(X, cuts.data(), ends.data(), bins.data());
        else bin_rows<false>(X, cuts.data(), ends.data(), bins.data());
    }
    return owned_array(std::move(bins), {n, d});
}

}  // namespace

void bind_binning(nb::module_& m) {
    m.def("column_bins", &column_bins, nb::arg("X"), nb::arg("cuts"), nb::arg("ends"), nb::arg("right") = false);
}
