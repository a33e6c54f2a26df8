// Compiled twins of mercer/_numeric/trees/grower.py: a regression tree grown on binned columns.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "common/arrays.h"
#include "trees/tree_grower.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

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
               size_t max_leaf_nodes, double min_hessian, double l2, bool short_sums,
               const std::optional<Vector<int64_t>>& signs) {
    const size_t n = bins.shape(0), d = bins.shape(1), c = gradient.shape(1);
    GrownTree tree;
    {
        nb::gil_scoped_release release;
        require(gradient.shape(0) == n && hessian.shape(0) == n, "bins, gradient and hessian must have as many rows.");
        require(rows.shape(0) != 0 && columns.shape(0) != 0 && c != 0 && max_leaf_nodes >= 1,
                "a tree needs rows, columns, an output and a leaf.");
        require(widths.shape(0) == d, "there must be a width for each column.");
        TreeTask task{bins.data(),    n,           d,  gradient.data(), hessian.data(), c, increasing(rows, n), {}, {},
                      max_leaf_nodes, min_hessian, l2, short_sums};
        task.set_columns(columns.data(), columns.shape(0), widths.data());
        if (signs) {
            require(signs->shape(0) == d && c == 1, "there must be one output, and a sign for each column.");
            for (size_t j = 0; j < d; ++j) task.signs.push_back(static_cast<int8_t>(((*signs)(j) > 0) - ((*signs)(j) < 0)));
        }
        tree = grown_tree(task);
    }
    const size_t nodes = tree.column.size();
    return std::make_tuple(owned_array(std::move(tree.column), {nodes}), owned_array(std::move(tree.bin), {nodes}),
                           owned_array(std::move(tree.left), {nodes}), owned_array(std::move(tree.right), {nodes}),
                           owned_array(std::move(tree.value), {nodes, c}), owned_array(std::move(tree.gain), {nodes}),
                           owned_array(std::move(tree.leaf), {n}));
}

}  // namespace

void bind_grower(nb::module_& m) {
    using nb::arg;
    m.def("grow_tree", &grow_tree, arg("bins").noconvert(), arg("gradient").noconvert(), arg("hessian"), arg("rows"),
          arg("columns"), arg("widths"), arg("max_leaf_nodes"), arg("min_hessian"), arg("l2"),
          arg("short_sums") = false, arg("signs") = nb::none());
}
