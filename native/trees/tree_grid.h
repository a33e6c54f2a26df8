// The grids on which gradients and hessians are whole numbers, so coarse that all their sums are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/checks.h"
#include "trees/tree_task.h"

namespace mercer {

// To the nearest whole number, ties to even, of less than 2^51: what lies behind the point does not fit.
inline double rounded(double x) {
    constexpr double large = 0x1.8p52;
    return (x + large) - large;
}

struct Largest {
    double gradient = 0.0, hessian = 0.0;
};

// Powers of two to multiply by.
struct Grid {
    int gradient, hessian;
};

inline Largest largest_of(const TreeTask& task) {
    Largest found;
    for (uint32_t row : task.rows) {
        const double h = task.hessian[row];
        require(h >= 0.0 && h < HUGE_VAL, "hessians must be finite and not negative.");
        found.hessian = std::max(found.hessian, h);
        for (size_t o = 0; o < task.outputs; ++o) {
            const double g = std::abs(task.gradient[row * task.outputs + o]);
            require(g < HUGE_VAL, "gradients must be finite.");
            found.gradient = std::max(found.gradient, g);
        }
    }
    return found;
}

inline int binary_digits(double x) {
    int exponent;
    std::frexp(x, &exponent);
    return exponent;
}

// As fine as sums over `count` values up to `largest` allow that are to fit into so many bits.
inline int grid_exponent(double largest, size_t count, int bits) {
    if (!(largest > 0.0)) return 0;
    const int digits = std::min(30, bits - binary_digits(static_cast<double>(count)));
    return digits - std::max(binary_digits(largest), -900);
}

inline Grid grid_of(const Largest& largest, size_t count, int bits) {
    return {grid_exponent(largest.gradient, count, bits), grid_exponent(largest.hessian, count, bits)};
}

// Sums of 31 bits will do for one output and this many rows, if the hessians of half the rows and the gradients of half
// the rows are this many units: else too many would be lost beside the largest.
constexpr size_t most_short_rows = 65536;
constexpr double least_units = 64.0;

inline bool short_sums_do(const TreeTask& task, const Grid& grid) {
    if (!task.short_sums || task.outputs != 1 || task.rows.size() > most_short_rows) return false;
    const double least_g = std::ldexp(least_units, -grid.gradient), least_h = std::ldexp(least_units, -grid.hessian);
    size_t gradients = 0, hessians = 0;
    for (uint32_t row : task.rows) {
        gradients += std::abs(task.gradient[row]) >= least_g;
        hessians += task.hessian[row] >= least_h;
    }
    return 2 * std::min(gradients, hessians) >= task.rows.size();
}

}  // namespace mercer
