// Products of rows with the columns of a matrix, in float64. BLAS would be as fast, but chooses its order of additions
// by the number of rows; a tile of these never does.
#include "linalg/products.h"

#include "common/tiles.h"

namespace mercer::MERCER_LEVEL {
namespace {

struct Plain {
    RowsView<double> out;
    const double* start(long) const { return nullptr; }
    void finish(Pair<double> sums, long row, long column, long width) const {
        store_some(out.data + row * out.stride + column, sums, width);
    }
};

void row_products(RowsView<const double> x, Panels<double> panels, RowsView<double> out) {
    run(x, panels, Plain{out});
}

}  // namespace

// Constant initialization: nothing of a level may run before it is chosen.
extern const ProductKernels products;
constinit const ProductKernels products{panel_width<double>, row_products};

}  // namespace mercer::MERCER_LEVEL
