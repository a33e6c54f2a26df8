// Sums over trees for groups of rows, ramps, and products of rows, one row after the other: the order of sums depends on
// the number of columns alone.
#include "trees/serving.h"

#include "trees/fork_sets.h"
#include "common/wide_lanes.h"

namespace mercer::MERCER_LEVEL {
namespace {

// A row times a few outputs: each has sums of its own, in the same order in any company, and what all need is loaded
// once.
template <long outputs> void products(const float* z, const double* coef, long n, double* out) {
    constexpr long chains = 4;  // since one sum waits for the one before
    Wide sums[outputs][chains] = {};
    double rest[outputs] = {};
    long j = 0;
    for (; j + chains * lanes <= n; j += chains * lanes)
#pragma GCC unroll 4
        for (long c = 0; c < chains; ++c) {
            const Wide wide = widened(z + j + c * lanes);
#pragma GCC unroll 4
            for (long k = 0; k < outputs; ++k) sums[k][c] += wide * loaded(coef + k * n + j + c * lanes);
        }
    for (; j < n; ++j)
        for (long k = 0; k < outputs; ++k) rest[k] += double(z[j]) * coef[k * n + j];
    for (long k = 0; k < outputs; ++k) {
        const Wide sum = (sums[k][0] + sums[k][1]) + (sums[k][2] + sums[k][3]);
        out[k] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest[k];
    }
}

void row_products(const float* Z, long rows, long columns, const double* coef, long outputs, double* out) {
    for (long i = 0; i < rows; ++i, Z += columns, out += outputs) {
        long k = 0;
        for (; k + 3 <= outputs; k += 3) products<3>(Z, coef + k * columns, columns, out + k);  // 12 registers of sums
        for (; k < outputs; ++k) products<1>(Z, coef + k * columns, columns, out + k);
    }
}

void write_ramps(const double* row, const RampRun* runs, long n_runs, const double* __restrict low,
                 const double* __restrict length, float* __restrict out) {
    for (const RampRun* run = runs; run < runs + n_runs; ++run)
        for (long j = run->start; j < run->stop; ++j) {
            double progress = (row[run->column] - low[j]) / length[j];
            progress = progress < 0.0 ? 0.0 : progress;  // NaN stays
            out[j] = static_cast<float>(progress > 1.0 ? 1.0 : progress);
        }
}

}  // namespace

extern const ServingKernels serving;
constinit const ServingKernels serving{row_products, group_rows, add_forks, write_ramps};

}  // namespace mercer::MERCER_LEVEL
