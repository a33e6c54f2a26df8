// Compiled twins of mercer/_numeric/trees/trees.py: a tree grown on binned columns, the leaves of rows, and sums over trees.
#include "trees/tree_grower.h"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "common/arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Ints = nb::ndarray<nb::numpy, int32_t>;

// Up to so many rows, only the nodes that they visit are checked.
constexpr int64_t few_rows = 8;
constexpr int64_t span_rows = 512;

std::vector<uint32_t> increasing(const Vector<int64_t>& given, size_t below) {
    std::vector<uint32_t> found;
    found.reserve(given.shape(0));
    for (size_t k = 0; k < given.shape(0); ++k) {
        require(k == 0 || given(k) > given(k - 1), "rows must be increasing.");
        require(given(k) >= 0 && given(k) < static_cast<int64_t>(below), "no such row.");
        found.push_back(static_cast<uint32_t>(given(k)));
    }
    return found;
}

auto grow_tree(const Rows<uint8_t>& bins, const Rows<double>& gradient, const Vector<double>& hessian,
               const Vector<int64_t>& rows, const Vector<int64_t>& columns, const Vector<int64_t>& widths,
               size_t max_leaves, double least_hessian, double l2, bool short_sums) {
    const size_t n = bins.shape(0), d = bins.shape(1), c = gradient.shape(1);
    GrownTree tree;
    {
        nb::gil_scoped_release release;
        require(gradient.shape(0) == n && hessian.shape(0) == n, "bins, gradient and hessian must have as many rows.");
        require(rows.shape(0) != 0 && columns.shape(0) != 0 && c != 0 && max_leaves >= 1, "a tree needs rows, columns, an output and a leaf.");
        require(widths.shape(0) == d, "there must be a width for each column.");
        TreeTask task{bins.data(), n, d, gradient.data(), hessian.data(), c, increasing(rows, n),
                      {}, {}, max_leaves, least_hessian, l2, short_sums};
        task.allow(columns.data(), columns.shape(0), widths.data());
        tree = grown_tree(task);
    }
    const size_t nodes = tree.column.size();
    return std::make_tuple(owned_array(std::move(tree.column), {nodes}), owned_array(std::move(tree.bin), {nodes}),
                           owned_array(std::move(tree.left), {nodes}), owned_array(std::move(tree.right), {nodes}),
                           owned_array(std::move(tree.value), {nodes, c}), owned_array(std::move(tree.gain), {nodes}),
                           owned_array(std::move(tree.leaf), {n}));
}

Ints tree_leaves(const Rows<uint8_t>& bins, const Vector<int32_t>& feature, const Vector<int32_t>& threshold,
                 const Vector<int32_t>& left, const Vector<int32_t>& right, const Vector<int32_t>& roots) {
    const size_t n = bins.shape(0), d = bins.shape(1), trees = roots.shape(0), nodes = feature.shape(0);
    require(threshold.shape(0) == nodes && left.shape(0) == nodes && right.shape(0) == nodes, "feature, threshold, left and right must describe the same nodes.");
    std::vector<int32_t> out(n * trees);
    {
        nb::gil_scoped_release release;
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
    nb::gil_scoped_release released;
    const int64_t n = X.shape(0), p = X.shape(1), nodes = column.shape(0), outputs = out.shape(1);
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    for (size_t t = 0; t < roots.shape(0); ++t)
        require(roots.data()[t] >= 0 && roots.data()[t] < nodes && output.data()[t] >= 0 && output.data()[t] < outputs, "a tree is not well formed.");
    // Children come after their parent, so every walk ends.
    const auto check_node = [&](int64_t k) {
        require(column.data()[k] < p, "a tree asks for a column that X has not.");
        require(left.data()[k] > k && right.data()[k] > k && left.data()[k] < nodes && right.data()[k] < nodes, "a tree is not well formed.");
    };
    // A few rows visit few of the nodes: these are checked on the way. Many rows visit most, which are checked once.
    const bool few = n <= few_rows;
    for (int64_t k = 0; k < nodes && !few; ++k)
        if (column.data()[k] >= 0) check_node(k);
    // A tree at a time for a span of rows: the nodes of one tree stay in the nearest cache.
    for (int64_t start = 0; start < n; start += span_rows) {
        const int64_t stop = std::min(n, start + span_rows);
        for (size_t t = 0; t < roots.shape(0); ++t) {
            double* sums = out.data() + output.data()[t];
            for (int64_t i = start; i < stop; ++i) {
                const double* x = X.data() + i * p;
                int64_t node = roots.data()[t];
                while (column.data()[node] >= 0) {
                    if (few) check_node(node);
                    node = x[column.data()[node]] <= threshold.data()[node] ? left.data()[node] : right.data()[node];
                }
                sums[i * outputs] += value.data()[node];
            }
        }
    }
}

}  // namespace

void bind_trees(nb::module_& m) {
    using nb::arg;
    m.def("grow_tree", &grow_tree, arg("bins").noconvert(), arg("gradient").noconvert(), arg("hessian"), arg("rows"),
          arg("columns"), arg("widths"), arg("max_leaves"), arg("least_hessian"), arg("l2"),
          arg("short") = false);
    m.def("tree_leaves", &tree_leaves, arg("bins").noconvert(), arg("feature"), arg("threshold"), arg("left"),
          arg("right"), arg("roots"));
    m.def("add_trees", &add_trees, arg("X"), arg("roots"), arg("column"), arg("threshold"), arg("left"), arg("right"),
          arg("value"), arg("output"), arg("out").noconvert());
}
