// Grids to which gradients and hessians are rounded, so coarse that all their sums are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/checks.h"
#include "trees/tree_task.h"

namespace mercer {

// Rounds |x| < 2^51 to the nearest integer, ties to even.
inline double rounded(double x) {
    constexpr double large = 0x1.8p52;
    return (x + large) - large;
}

struct Largest {
    double gradient = 0.0, hessian = 0.0;
};

// Exponents of the powers of two to multiply by.
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

// The finest grid on which sums of `count` values up to `largest` fit into `bits` bits.
inline int grid_exponent(double largest, size_t count, int bits) {
    if (!(largest > 0.0)) return 0;
    const int digits = std::min(30, bits - binary_digits(static_cast<double>(count)));
    return digits - std::max(binary_digits(largest), -900);
}

inline Grid grid_of(const Largest& largest, size_t count, int bits) {
    return {grid_exponent(largest.gradient, count, bits), grid_exponent(largest.hessian, count, bits)};
}

// Sums of 31 bits are precise enough for one output and up to max_short_rows rows if at least half of the gradients and
// half of the hessians are min_units grid units or more; otherwise too many would be rounded to zero.
constexpr size_t max_short_rows = 65536;
constexpr double min_units = 64.0;

inline bool short_sums_suffice(const TreeTask& task, const Grid& grid) {
    if (!task.short_sums || task.outputs != 1 || task.rows.size() > max_short_rows) return false;
    const double min_gradient = std::ldexp(min_units, -grid.gradient),
                 min_hessian = std::ldexp(min_units, -grid.hessian);
    size_t gradients = 0, hessians = 0;
    for (uint32_t row : task.rows) {
        gradients += std::abs(task.gradient[row]) >= min_gradient;
        hessians += task.hessian[row] >= min_hessian;
    }
    return 2 * std::min(gradients, hessians) >= task.rows.size();
}

}  // namespace mercer
