// Compiled twins of mercer/_numeric/trees/prediction.py.
#include "trees/prediction.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/arrays.h"
#include "trees/packed_trees.h"
#include "trees/tree_walks.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

nb::ndarray<nb::numpy, int32_t> tree_leaves(const Rows<uint8_t>& bins, const Vector<int32_t>& feature,
                                            const Vector<int32_t>& threshold, const Vector<int32_t>& left,
                                            const Vector<int32_t>& right, const Vector<int32_t>& roots) {
    const size_t n = bins.shape(0), d = bins.shape(1), trees = roots.shape(0), nodes = feature.shape(0);
    require(threshold.shape(0) == nodes && left.shape(0) == nodes && right.shape(0) == nodes,
            "feature, threshold, left and right must describe the same nodes.");
    std::vector<int32_t> out(n * trees);
    {
        nb::gil_scoped_release release;
        const int64_t count = static_cast<int64_t>(nodes);
        for (size_t t = 0; t < trees; ++t) require(roots(t) >= 0 && roots(t) < count, "a tree is not well formed.");
        for (int64_t k = 0; k < count; ++k)  // children come after their parent, so every walk ends
            require(feature(k) < 0 || (static_cast<size_t>(feature(k)) < d && left(k) > k && right(k) > k &&
                                       left(k) < count && right(k) < count),
                    "a tree is not well formed.");
        for (size_t i = 0; i < n; ++i) {
            const uint8_t* row = bins.data() + i * d;
            for (size_t t = 0; t < trees; ++t) {
                size_t node = static_cast<size_t>(roots(t));
                while (feature(node) >= 0)
                    node = static_cast<size_t>(row[feature(node)] <= threshold(node) ? left(node) : right(node));
                out[i * trees + t] = static_cast<int32_t>(node);
            }
        }
    }
    return owned_array(std::move(out), {n, trees});
}

void add_trees(const Rows<double>& X, const Vector<int64_t>& roots, const Vector<int64_t>& column,
               const Vector<double>& threshold, const Vector<int64_t>& left, const Vector<int64_t>& right,
               const Vector<double>& value, const Vector<int64_t>& output, OutRows<double> out) {
    const size_t nodes = column.shape(0);
    for (const size_t size : {threshold.shape(0), left.shape(0), right.shape(0), value.shape(0)})
        require_tree(size == nodes);
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    require(output.shape(0) == roots.shape(0), "output must name a column for each tree.");
    const Nodes trees{column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(nodes)};
    nb::gil_scoped_release released;
    add_plain_trees(trees, roots.data(), output.data(), roots.shape(0), {X.data(), X.shape(0), X.shape(1)}, out.data(),
                    out.shape(1));
}

std::unique_ptr<PackedTrees> pack_trees(const Vector<int64_t>& roots, const Vector<int64_t>& column,
                                        const Vector<double>& threshold, const Vector<int64_t>& left,
                                        const Vector<int64_t>& right, const Vector<double>& value) {
    const size_t n = column.shape(0);
    for (const size_t size : {threshold.shape(0), left.shape(0), right.shape(0), value.shape(0)})
        require_tree(size == n);
    const Nodes nodes{column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(n)};
    return std::make_unique<PackedTrees>(nodes, roots.data(), roots.shape(0));
}

void add_packed_trees(const Rows<double>& X, const PackedTrees& trees, const Vector<int64_t>& output,
                      OutRows<double> out) {
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    require(output.shape(0) == trees.roots.size(), "output must name a column for each tree.");
    nb::gil_scoped_release released;
    add_packed(trees, output.data(), {X.data(), X.shape(0), X.shape(1)}, out.data(), out.shape(1));
}

void rowwise_matmul(const Rows<float>& Z, const Rows<double>& coef, OutRows<double> out) {
    const size_t n = Z.shape(0), d = Z.shape(1), outputs = coef.shape(1);
    require(coef.shape(0) == d, "coef must have a row for each column of Z.");
    require(out.shape(0) == n && out.shape(1) == outputs, "out must be of shape (rows, outputs).");
    nb::gil_scoped_release released;
    std::vector<double> transposed(outputs > 1 ? outputs * d : 0);  // coefficients of one output are contiguous
    for (size_t j = 0; j < d && outputs > 1; ++j)
        for (size_t k = 0; k < outputs; ++k) transposed[k * d + j] = coef.data()[j * outputs + k];
    MERCER_PICK(prediction)
        .rowwise_matmul(Z.data(), n, d, outputs > 1 ? transposed.data() : coef.data(), outputs, out.data());
}

void write_piecewise_linear(const Rows<double>& X, const Vector<int64_t>& column, const Vector<double>& low,
                            const Vector<double>& length, OutMatrix<float> out) {
    const int64_t n = X.shape(0), p = X.shape(1), n_functions = column.shape(0);
    require(int64_t(low.shape(0)) == n_functions && int64_t(length.shape(0)) == n_functions,
            "column, low and length must describe the same basis functions.");
    require(
        int64_t(out.shape(0)) == n && int64_t(out.shape(1)) == n_functions && (n_functions < 2 || out.stride(1) == 1),
        "out must be of shape (rows, basis functions) with contiguous rows.");
    std::vector<BasisRun> runs;
    for (int64_t j = 0; j < n_functions; ++j) {
        require(column(j) >= 0 && column(j) < p, "column must name columns of X.");
        if (runs.empty() || runs.back().column != column(j)) runs.push_back({long(column(j)), long(j), long(j)});
        runs.back().stop = j + 1;
    }
    nb::gil_scoped_release released;
    const auto write = MERCER_PICK(prediction).write_piecewise_linear;
    for (int64_t i = 0; i < n; ++i)
        write(X.data() + i * p, runs.data(), runs.size(), low.data(), length.data(), out.data() + i * out.stride(0));
}

}  // namespace

void bind_prediction(nb::module_& m) {
    m.def("tree_leaves", &tree_leaves, nb::arg("bins").noconvert(), nb::arg("feature"), nb::arg("threshold"),
          nb::arg("left"), nb::arg("right"), nb::arg("roots"));
    m.def("add_trees", &add_trees, nb::arg("X"), nb::arg("roots"), nb::arg("column"), nb::arg("threshold"),
          nb::arg("left"), nb::arg("right"), nb::arg("value"), nb::arg("output"), nb::arg("out").noconvert());
    nb::class_<PackedTrees>(m, "_PackedTrees");
    m.def("pack_trees", &pack_trees, nb::arg("roots"), nb::arg("column"), nb::arg("threshold"), nb::arg("left"),
          nb::arg("right"), nb::arg("value"));
    m.def("add_packed_trees", &add_packed_trees, nb::arg("X"), nb::arg("trees"), nb::arg("output"),
          nb::arg("out").noconvert());
    m.def("write_piecewise_linear", &write_piecewise_linear, nb::arg("X"), nb::arg("column"), nb::arg("low"),
          nb::arg("length"), nb::arg("out").noconvert());
    m.def("rowwise_matmul", &rowwise_matmul, nb::arg("Z").noconvert(), nb::arg("coef"), nb::arg("out").noconvert());
}
