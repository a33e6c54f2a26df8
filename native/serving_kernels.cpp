// Sums over trees for groups of rows, and products of rows, one row after the other: the order of sums depends on the
// number of columns alone.
#include "serving.h"

#include "fork_sets.h"
#include "wide_lanes.h"

namespace mercer::MERCER_LEVEL {
namespace {

double dot(const float* z, const double* coef, long n) {
    constexpr long chains = 4;  // since one sum waits for the one before
    Wide sums[chains] = {};
    double rest = 0;
    long j = 0;
    for (; j + chains * lanes <= n; j += chains * lanes)
        for (long c = 0; c < chains; ++c) sums[c] += widened(z + j + c * lanes) * loaded(coef + j + c * lanes);
    for (; j < n; ++j) rest += double(z[j]) * coef[j];
    const Wide sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

void row_products(const float* Z, long rows, long columns, const double* coef, long outputs, double* out) {
    for (long i = 0; i < rows; ++i, Z += columns)
        for (long k = 0; k < outputs; ++k) *out++ = dot(Z, coef + k * columns, columns);
}

}  // namespace

extern const ServingKernels serving;
constinit const ServingKernels serving{row_products, group_rows, add_forks};

}  // namespace mercer::MERCER_LEVEL
