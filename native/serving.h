// What native/serving_kernels.cpp offers at each instruction-set level.
#pragma once

#include "dispatch.h"

namespace mercer {

struct ServingKernels {
    // out (rows, outputs) = Z coef'; Z (rows, columns) and coef (outputs, columns) lie row after row.
    void (*row_products)(const float* Z, long rows, long columns, const double* coef, long outputs, double* out);
};

MERCER_DECLARE_TABLE(ServingKernels, serving)

}  // namespace mercer
