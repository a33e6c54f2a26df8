// The hot loops of the dual of the hinge loss, one table per instruction-set level.
#pragma once

#include "common/dispatch.h"

namespace mercer {

// One row of coordinates, all of length n.
struct HingeState {
    long n;
    const double *y, *upper, *curvature, *inverse;
    const double* beta;
    double* f;
};

struct Best {
    long index;
    double gain;
};

struct DualTable {
    // f += scale * row, then the coordinate of the largest gain.
    Best (*step_f32)(const HingeState& state, double scale, const float* row);
    Best (*step_f64)(const HingeState& state, double scale, const double* row);
};

MERCER_DECLARE_TABLE(DualTable, dual)

}  // namespace mercer
