// Python bindings of the products of rows: shapes are checked here, the work is done without the GIL.
#include "linalg/products.h"

#include <new>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Packed = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

long panels_for(long columns) {
    const long width = MERCER_PICK(products).panel_width;
    return (columns + width - 1) / width;
}

// Panels of columns; whole cache lines, so that a panel never shares one.
nb::object pack_columns(Rows<double> W) {
    const size_t depth = W.shape(0), count = W.shape(1), width = MERCER_PICK(products).panel_width;
    const size_t panels = panels_for(count);
    constexpr std::align_val_t line{64};
    double* packed = new (line) double[panels * depth * width + 1]();
    nb::capsule owner(packed, [](void* data) noexcept {
        ::operator delete[](static_cast<double*>(data), std::align_val_t{64});
    });
    for (size_t k = 0; k < depth; ++k)
        for (size_t j = 0; j < count; ++j)
            packed[((j / width) * depth + k) * width + j % width] = W.data()[k * count + j];
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<3>>(packed, {panels, depth, width}, owner));
}

void row_products(Matrix<double> X, Packed packed, long n_columns, OutMatrix<double> out) {
    const RowsView<const double> x{X.data(), long(X.shape(0)), long(X.shape(1)), row_stride(X, "X")};
    const RowsView<double> to{out.data(), long(out.shape(0)), long(out.shape(1)), row_stride(out, "out")};
    require(long(packed.shape(2)) == MERCER_PICK(products).panel_width && n_columns >= 0 &&
                long(packed.shape(0)) == panels_for(n_columns),
            "packed does not hold ", n_columns,
            " columns in this machine's layout; make it here with pack_columns(W)");
    require(long(packed.shape(1)) == x.columns, "X has ", x.columns, " columns but the matrix has ", packed.shape(1),
            " rows");
    require(to.count == x.count && to.columns == n_columns, "out has shape (", to.count, ", ", to.columns,
            ") but the result has (", x.count, ", ", n_columns, ")");
    nb::gil_scoped_release unlocked;
    MERCER_PICK(products).row_products(x, {packed.data(), n_columns, x.columns}, to);
}

}  // namespace

void bind_products(nb::module_& m) {
    using namespace nb::literals;
    m.def("pack_columns", pack_columns, "W"_a.noconvert());
    m.def("row_products", row_products, "X"_a.noconvert(), "packed"_a.noconvert(), "n_columns"_a,
          "out"_a.noconvert());
}
