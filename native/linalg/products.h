// What native/linalg/products_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "common/panels.h"

namespace mercer {

struct ProductKernels {
    long panel_width;
    void (*row_products)(RowsView<const double> x, Panels<double> panels, RowsView<double> out);
};

MERCER_DECLARE_TABLE(ProductKernels, products)

}  // namespace mercer
