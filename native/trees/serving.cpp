// Compiled twins of mercer/_numeric/trees/serving.py. For a single row, trees in cells that fit into few cache lines, eight of
// them walked side by side; for many, sets of rows; products of rows in an order of sums that no other has a say in.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/arrays.h"
#include "trees/packed_trees.h"
#include "trees/serving.h"

namespace nb = nanobind;

namespace {

using namespace mercer;


constexpr int64_t lanes = 8;  // walks at a time: while one waits for memory, the others go on
constexpr int64_t few_rows = 8;  // are walked one by one: sets of rows take as long for one as for many

std::unique_ptr<PackedTrees> pack_trees(const Vector<int64_t>& roots, const Vector<int64_t>& column,
                                        const Vector<double>& threshold, const Vector<int64_t>& left,
                                        const Vector<int64_t>& right, const Vector<double>& value) {
    const size_t n = column.shape(0);
    for (const size_t size : {threshold.shape(0), left.shape(0), right.shape(0), value.shape(0)}) require_tree(size == n);
    const Nodes nodes{column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(n)};
    return std::make_unique<PackedTrees>(nodes, roots.data(), roots.shape(0));
}

// Eight walks of `depth` steps.
void walk(const Cell* cells, const uint16_t* bins, int32_t depth, int32_t* at) {
    int32_t place[lanes];
    std::copy(at, at + lanes, place);
    for (int32_t level = 0; level < depth; ++level)
        for (int64_t l = 0; l < lanes; ++l) {
            const Cell cell = cells[place[l]];
            place[l] = cell.child + (bins[cell.column] > cell.cut);
        }
    std::copy(place, place + lanes, at);
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
void add_groups(const ForkTrees& trees, const Rows<double>& X, const int64_t* output, OutRows<double>& out) {
    const ServingKernels& kernels = MERCER_PICK(serving);
    const int64_t n = X.shape(0), p = X.shape(1), outputs = out.shape(1), step = kernels.group_rows;
    constexpr int64_t line = 64;
    std::vector<char> memory(trees.n_cuts * (step / 8) + outputs * step * sizeof(double) + line);
    char* room = memory.data() + (line - reinterpret_cast<uintptr_t>(memory.data()) % line);
    for (int64_t start = 0; start < n; start += step)
        kernels.add_forks(trees, X.data() + start * p, p, std::min(step, n - start), output, outputs,
                          out.data() + start * outputs, room);
}

void add_packed_trees(const Rows<double>& X, const PackedTrees& trees, const Vector<int64_t>& output, OutRows<double> out) {
    const int64_t n = X.shape(0), outputs = out.shape(1), n_trees = trees.roots.size();
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    require(int64_t(output.shape(0)) == n_trees, "output must name a column for each tree.");
    require(trees.edges.size() <= X.shape(1), "a tree asks for a column that X has not.");
    for (int64_t t = 0; t < n_trees; ++t)
        require(output.data()[t] >= 0 && output.data()[t] < outputs, "output must name columns of out.");
    nb::gil_scoped_release released;
    const ForkMemory* forks = n < few_rows ? nullptr : trees.forks();
    if (forks) return add_groups(forks->view(), X, output.data(), out);
    for (int64_t i = 0; i < n; ++i)
        add_row(trees, X.data() + i * X.shape(1), output.data(), out.data() + i * outputs);
}

void row_products(const Rows<float>& Z, const Rows<double>& coef, OutRows<double> out) {
    const size_t n = Z.shape(0), d = Z.shape(1), outputs = coef.shape(1);
    require(coef.shape(0) == d, "coef must have a row for each column of Z.");
    require(out.shape(0) == n && out.shape(1) == outputs, "out must be of shape (rows, outputs).");
    nb::gil_scoped_release released;
    std::vector<double> turned(outputs > 1 ? outputs * d : 0);  // the coefficients of an output side by side
    for (size_t j = 0; j < d && outputs > 1; ++j)
        for (size_t k = 0; k < outputs; ++k) turned[k * d + j] = coef.data()[j * outputs + k];
    MERCER_PICK(serving).row_products(Z.data(), n, d, outputs > 1 ? turned.data() : coef.data(), outputs, out.data());
}

void write_ramps(const Rows<double>& X, const Vector<int64_t>& column, const Vector<double>& low,
                 const Vector<double>& length, OutMatrix<float> out) {
    const int64_t n = X.shape(0), p = X.shape(1), pieces = column.shape(0);
    require(int64_t(low.shape(0)) == pieces && int64_t(length.shape(0)) == pieces, "column, low and length must describe the same pieces.");
    require(int64_t(out.shape(0)) == n && int64_t(out.shape(1)) == pieces && (pieces < 2 || out.stride(1) == 1), "out must be of shape (rows, pieces), a row's pieces side by side.");
    std::vector<RampRun> runs;
    for (int64_t j = 0; j < pieces; ++j) {
        require(column(j) >= 0 && column(j) < p, "column must name columns of X.");
        if (runs.empty() || runs.back().column != column(j)) runs.push_back({long(column(j)), long(j), long(j)});
        runs.back().stop = j + 1;
    }
    nb::gil_scoped_release released;
    const auto write = MERCER_PICK(serving).write_ramps;
    for (int64_t i = 0; i < n; ++i)
        write(X.data() + i * p, runs.data(), runs.size(), low.data(), length.data(), out.data() + i * out.stride(0));
}

}  // namespace

void bind_serving(nb::module_& m) {
    nb::class_<PackedTrees>(m, "_PackedTrees");
    m.def("pack_trees", &pack_trees, nb::arg("roots"), nb::arg("column"), nb::arg("threshold"), nb::arg("left"),
          nb::arg("right"), nb::arg("value"));
    m.def("add_packed_trees", &add_packed_trees, nb::arg("X"), nb::arg("trees"), nb::arg("output"),
          nb::arg("out").noconvert());
    m.def("write_ramps", &write_ramps, nb::arg("X"), nb::arg("column"), nb::arg("low"), nb::arg("length"),
          nb::arg("out").noconvert());
    m.def("row_products", &row_products, nb::arg("Z").noconvert(), nb::arg("coef"), nb::arg("out").noconvert());
}
