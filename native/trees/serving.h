// What native/trees/serving_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "trees/forks.h"

namespace mercer {

// Pieces `start` to `stop` lie along one column.
struct RampRun {
    long column, start, stop;
};

struct ServingKernels {
    // out (rows, outputs) = Z coef'; Z (rows, columns) and coef (outputs, columns) lie row after row.
    void (*row_products)(const float* Z, long rows, long columns, const double* coef, long outputs, double* out);
    long group_rows;  // a multiple of eight
    // out (rows, outputs) += the sums of trees, tree t in column output[t], for up to group_rows rows. `room` has
    // n_cuts * group_rows / 8 bytes and outputs * group_rows doubles, on whole cache lines.
    void (*add_forks)(const ForkTrees& trees, const double* X, long stride, long rows, const int64_t* output,
                      long outputs, double* out, char* room);
    // out[j] = clip((x - low[j]) / length[j], 0, 1), x the entry of the row in the column of piece j.
    void (*write_ramps)(const double* row, const RampRun* runs, long n_runs, const double* low, const double* length,
                        float* out);
};

MERCER_DECLARE_TABLE(ServingKernels, serving)

}  // namespace mercer
