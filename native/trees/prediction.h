// What native/trees/prediction_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "trees/splits.h"

namespace mercer {

// Basis functions `start` to `stop` of one column.
struct BasisRun {
    long column, start, stop;
};

struct PredictionKernels {
    // out (rows, outputs) = Z coef'; Z (rows, columns) and coef (outputs, columns) are row-major.
    void (*rowwise_matmul)(const float* Z, long rows, long columns, const double* coef, long outputs, double* out);
    long group_rows;  // a multiple of eight
    // out (rows, outputs) += the sums of trees, tree t in column output[t], for up to group_rows rows. `workspace` has
    // n_cuts * group_rows / 8 bytes and outputs * group_rows doubles, on whole cache lines.
    void (*add_splits)(const SplitTrees& trees, const double* X, long stride, long rows, const int64_t* output,
                       long outputs, double* out, char* workspace);
    // out[j] = clip((x - low[j]) / length[j], 0, 1), x the entry of the row in the column of basis function j.
    void (*write_piecewise_linear)(const double* row, const BasisRun* runs, long n_runs, const double* low,
                                   const double* length, float* out);
};

MERCER_DECLARE_TABLE(PredictionKernels, prediction)

}  // namespace mercer
