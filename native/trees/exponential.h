// exp(x) for |x| <= 700 to a few units in the last place. It has no branch, so compilers vectorize loops over it.
#pragma once

#include <bit>
#include <cstdint>

namespace mercer {

inline double exponential(double x) {
    constexpr double magic = 0x1.8p52;  // adding it rounds to the nearest integer
    constexpr double per_log2 = 0x1.71547652b82fep+0, log2_high = 0x1.62e42fee00000p-1,
                     log2_low = 0x1.a39ef35793c76p-33;
    const double shifted = x * per_log2 + magic, n = shifted - magic;
    const double r = (x - n * log2_high) - n * log2_low;  // |r| <= log(2) / 2
    double power = 1.0 / 39916800.0;                      // Taylor's series, to r^11 / 11!
    power = power * r + 1.0 / 3628800.0;
    power = power * r + 1.0 / 362880.0;
    power = power * r + 1.0 / 40320.0;
    power = power * r + 1.0 / 5040.0;
    power = power * r + 1.0 / 720.0;
    power = power * r + 1.0 / 120.0;
    power = power * r + 1.0 / 24.0;
    power = power * r + 1.0 / 6.0;
    power = power * r + 0.5;
    power = power * r + 1.0;
    power = power * r + 1.0;
    const int64_t exponent = static_cast<int64_t>(std::bit_cast<uint64_t>(shifted) << 52);  // n in the exponent field
    return std::bit_cast<double>(std::bit_cast<int64_t>(power) + exponent);
}

}  // namespace mercer
