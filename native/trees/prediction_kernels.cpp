// Sums over trees, piecewise-linear bases, and matrix products computed row by row: the summation order depends only
// on the number of columns.
#include "common/wide_lanes.h"
#include "trees/prediction.h"
#include "trees/row_sets.h"

namespace mercer::MERCER_LEVEL {
namespace {

// A row times a few outputs. Each output has its own accumulators, so its summation order does not depend on the
// others.
template <long outputs> void products(const float* z, const double* coef, long n, double* out) {
    constexpr long chains = 4;  // independent accumulators hide the latency of additions
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

void rowwise_matmul(const float* Z, long rows, long columns, const double* coef, long outputs, double* out) {
    for (long i = 0; i < rows; ++i, Z += columns, out += outputs) {
        long k = 0;
        for (; k + 3 <= outputs; k += 3) products<3>(Z, coef + k * columns, columns, out + k);  // 12 registers of sums
        for (; k < outputs; ++k) products<1>(Z, coef + k * columns, columns, out + k);
    }
}

void write_piecewise_linear(const double* row, const BasisRun* runs, long n_runs, const double* __restrict low,
                            const double* __restrict length, float* __restrict out) {
    for (const BasisRun* run = runs; run < runs + n_runs; ++run)
        for (long j = run->start; j < run->stop; ++j) {
            double t = (row[run->column] - low[j]) / length[j];
            t = t < 0.0 ? 0.0 : t;  // NaN stays
            out[j] = static_cast<float>(t > 1.0 ? 1.0 : t);
        }
}

}  // namespace

extern const PredictionKernels prediction;
constinit const PredictionKernels prediction{rowwise_matmul, group_rows, add_splits, write_piecewise_linear};

}  // namespace mercer::MERCER_LEVEL
