// The hot loops of coordinate descent for the Lasso, one table per instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "common/interrupts.h"

namespace mercer {

// Minimizes 1/2 ||y - X w||^2 + penalty ||w||_1 known through G = X'X, b = X'y and yy = y'y only.
struct LassoJob {
    const double* G;  // m rows of m entries, `stride` apart
    long stride, m;
    const double* b;
    double yy, penalty, tolerance;
    long max_sweeps;
    double *q, *w;   // q = X'(y - X w), updated with w
    double* memory;  // 2 (lasso_depth + 1) m numbers: the last iterates, for extrapolation
    long* active;    // m numbers
    InterruptCheck& interrupt;
};

struct LassoDone {
    double gap;
    long sweeps;
};

constexpr long lasso_depth = 5;

struct LassoTable {
    LassoDone (*descend)(const LassoJob& job);
};

MERCER_DECLARE_TABLE(LassoTable, lasso)

}  // namespace mercer
