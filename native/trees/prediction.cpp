// Compiled twins of mercer/_numeric/trees/prediction.py. A few rows walk compact trees, eight trees at a time; many
// rows are evaluated as bitsets (see row_sets.h).
#include "trees/prediction.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/arrays.h"
#include "trees/packed_trees.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

constexpr int64_t lanes = 8;      // trees walked at a time, to hide memory latency
constexpr int64_t min_group = 8;  // rows from which on bitsets pay: they take as long for one row as for many

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

constexpr int64_t max_rows_checked = 8, span_rows = 512;

void add_trees(const Rows<double>& X, const Vector<int64_t>& roots, const Vector<int64_t>& column,
               const Vector<double>& threshold, const Vector<int64_t>& left, const Vector<int64_t>& right,
               const Vector<double>& value, const Vector<int64_t>& output, OutRows<double> out) {
    nb::gil_scoped_release released;
    const int64_t n = X.shape(0), p = X.shape(1), nodes = column.shape(0), outputs = out.shape(1);
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    for (size_t t = 0; t < roots.shape(0); ++t)
        require(roots.data()[t] >= 0 && roots.data()[t] < nodes && output.data()[t] >= 0 && output.data()[t] < outputs,
                "a tree is not well formed.");
    // Children come after their parent, so every walk ends.
    const auto check_node = [&](int64_t k) {
        require(column.data()[k] < p, "a tree asks for a column that X has not.");
        require(left.data()[k] > k && right.data()[k] > k && left.data()[k] < nodes && right.data()[k] < nodes,
                "a tree is not well formed.");
    };
    // The nodes that a few rows visit are checked on the way; for many rows all nodes are checked once.
    const bool few = n <= max_rows_checked;
    for (int64_t k = 0; k < nodes && !few; ++k)
        if (column.data()[k] >= 0) check_node(k);
    // One tree at a time for a span of rows: its nodes stay in the first-level cache.
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

std::unique_ptr<PackedTrees> pack_trees(const Vector<int64_t>& roots, const Vector<int64_t>& column,
                                        const Vector<double>& threshold, const Vector<int64_t>& left,
                                        const Vector<int64_t>& right, const Vector<double>& value) {
    const size_t n = column.shape(0);
    for (const size_t size : {threshold.shape(0), left.shape(0), right.shape(0), value.shape(0)})
        require_tree(size == n);
    const Nodes nodes{column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(n)};
    return std::make_unique<PackedTrees>(nodes, roots.data(), roots.shape(0));
}

// Eight walks of `depth` steps.
void walk(const Cell* cells, const uint16_t* bins, int32_t depth, int32_t* at) {
    int32_t node[lanes];
    std::copy(at, at + lanes, node);
    for (int32_t level = 0; level < depth; ++level)
        for (int64_t l = 0; l < lanes; ++l) {
            const Cell cell = cells[node[l]];
            node[l] = cell.child + (bins[cell.column] > cell.cut);
        }
    std::copy(node, node + lanes, at);
}

// All trees for one row, eight at a time; their values are added in the order of the trees.
void add_row(const PackedTrees& trees, const double* row, const int64_t* output, double* sums) {
    std::vector<uint16_t> bins(std::max<size_t>(trees.edges.size(), 1));
    for (size_t c = 0; c < trees.edges.size(); ++c) bins[c] = trees.bin(c, row[c]);
    const int64_t n_trees = trees.roots.size();
    const Cell* cells = trees.cells.data();
    for (int64_t t = 0; t < n_trees; t += lanes) {
        const int64_t count = std::min(lanes, n_trees - t);
        int32_t at[lanes], depth = 0;
        for (int64_t l = 0; l < lanes; ++l) {
            const int64_t tree = std::min(t + l, n_trees - 1);
            at[l] = trees.roots[tree];
            depth = std::max(depth, trees.depths[tree]);
        }
        walk(cells, bins.data(), depth, at);
        for (int64_t l = 0; l < count; ++l) sums[output[t + l]] += trees.values[at[l]];
    }
}

// Groups of rows, all trees for each.
void add_groups(const SplitTrees& trees, const Rows<double>& X, const int64_t* output, OutRows<double>& out) {
    const PredictionKernels& kernels = MERCER_PICK(prediction);
    const int64_t n = X.shape(0), p = X.shape(1), outputs = out.shape(1), step = kernels.group_rows;
    constexpr int64_t line = 64;
    std::vector<char> memory(trees.n_cuts * (step / 8) + outputs * step * sizeof(double) + line);
    char* workspace = memory.data() + (line - reinterpret_cast<uintptr_t>(memory.data()) % line);
    for (int64_t start = 0; start < n; start += step)
        kernels.add_splits(trees, X.data() + start * p, p, std::min(step, n - start), output, outputs,
                           out.data() + start * outputs, workspace);
}

void add_packed_trees(const Rows<double>& X, const PackedTrees& trees, const Vector<int64_t>& output,
                      OutRows<double> out) {
    const int64_t n = X.shape(0), outputs = out.shape(1), n_trees = trees.roots.size();
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    require(int64_t(output.shape(0)) == n_trees, "output must name a column for each tree.");
    require(trees.edges.size() <= X.shape(1), "a tree asks for a column that X has not.");
    for (int64_t t = 0; t < n_trees; ++t)
        require(output.data()[t] >= 0 && output.data()[t] < outputs, "output must name columns of out.");
    nb::gil_scoped_release released;
    const SplitMemory* splits = n < min_group ? nullptr : trees.splits();
    if (splits) return add_groups(splits->view(), X, output.data(), out);
    for (int64_t i = 0; i < n; ++i) add_row(trees, X.data() + i * X.shape(1), output.data(), out.data() + i * outputs);
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
