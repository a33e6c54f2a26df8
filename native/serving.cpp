// Compiled twins of mercer/_numeric/serving.py: what a single row costs. Trees in cells that fit into few cache lines,
// eight of them walked side by side; products of rows in an order of sums that no other row has a say in.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "serving.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Features = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int64_t lanes = 8;  // walks at a time: while one waits for memory, the others go on
constexpr int64_t span_rows = 512;
constexpr uint16_t beyond = UINT16_MAX;  // the bin of NaN: it is below no threshold

// A row's bin in `column`, if at most `cut`, leads to the child, else to the one after it. A leaf leads to itself: a walk
// need not ask whether it has come to its end, if it is as long as the tree is deep.
struct Cell {
    uint16_t column, cut;
    int32_t child;
};

// Trees by levels, each pair of children side by side. With edges e_0 < e_1 < ... the thresholds of a column, and the bin
// of x the number of edges below x, x <= e_k if and only if bin <= k: rows are binned once, and cells are small.
struct PackedTrees {
    std::vector<Cell> cells;
    std::vector<double> values;  // of leaves, at the place of their cell
    std::vector<int32_t> roots, depths;
    std::vector<std::vector<double>> edges;

    uint16_t bin(size_t column, double x) const {
        if (x != x) return beyond;
        const double* edge = edges[column].data();
        size_t below = 0;
        for (size_t size = edges[column].size(); size > 0;) {  // e[below - 1] < x; what may follow is `size` long
            const size_t half = (size + 1) / 2;
            below += edge[below + half - 1] < x ? half : 0;
            size -= half;
        }
        return static_cast<uint16_t>(below);
    }
};

struct Nodes {
    const int64_t *column, *left, *right;
    const double *threshold, *value;
    int64_t count;
};

void require_tree(bool holds) {
    if (!holds) throw std::invalid_argument("a tree is not well formed.");
}

// The different thresholds of each column, in order.
std::vector<std::vector<double>> edges_of(const Nodes& nodes) {
    std::vector<std::vector<double>> edges;
    for (int64_t k = 0; k < nodes.count; ++k) {
        const int64_t column = nodes.column[k];
        if (column < 0) continue;
        require_tree(column < beyond && nodes.threshold[k] == nodes.threshold[k]);
        if (size_t(column) >= edges.size()) edges.resize(column + 1);
        edges[column].push_back(nodes.threshold[k]);
    }
    for (auto& each : edges) {
        std::sort(each.begin(), each.end());
        each.erase(std::unique(each.begin(), each.end()), each.end());
        if (each.size() >= beyond) throw std::invalid_argument("a column has too many thresholds.");
    }
    return edges;
}

// Appends the tree below `root`. No node is met twice, so that what comes out is no larger than what went in.
void append(const Nodes& nodes, int64_t root, std::vector<bool>& met, PackedTrees& packed) {
    struct Met {
        int64_t node;
        int32_t depth;
    };
    std::vector<Met> order;
    const size_t first = packed.cells.size();
    const auto add = [&](int64_t k, int32_t depth) {
        require_tree(k >= 0 && k < nodes.count && !met[k] && packed.cells.size() < INT32_MAX - 2);
        met[k] = true;
        order.push_back({k, depth});
        packed.cells.push_back({0, beyond, static_cast<int32_t>(packed.cells.size())});
        packed.values.push_back(nodes.value[k]);
    };
    packed.roots.push_back(static_cast<int32_t>(first));
    add(root, 0);
    for (size_t done = 0; done < order.size(); ++done) {
        const auto [k, depth] = order[done];
        const int64_t column = nodes.column[k];
        if (column < 0) continue;
        const auto& edges = packed.edges[column];
        const auto cut = std::lower_bound(edges.begin(), edges.end(), nodes.threshold[k]) - edges.begin();
        const auto child = static_cast<int32_t>(packed.cells.size());
        packed.cells[first + done] = {static_cast<uint16_t>(column), static_cast<uint16_t>(cut), child};
        add(nodes.left[k], depth + 1);
        add(nodes.right[k], depth + 1);
    }
    packed.depths.push_back(order.back().depth);
}

std::unique_ptr<PackedTrees> pack_trees(const Vector<int64_t>& roots, const Vector<int64_t>& column,
                                        const Vector<double>& threshold, const Vector<int64_t>& left,
                                        const Vector<int64_t>& right, const Vector<double>& value) {
    const size_t n = column.shape(0);
    for (const size_t size : {threshold.shape(0), left.shape(0), right.shape(0), value.shape(0)}) require_tree(size == n);
    const Nodes nodes{column.data(), left.data(), right.data(), threshold.data(), value.data(), int64_t(n)};
    auto packed = std::make_unique<PackedTrees>();
    packed->edges = edges_of(nodes);
    packed->cells.reserve(n);
    std::vector<bool> met(n, false);
    for (size_t t = 0; t < roots.shape(0); ++t) append(nodes, roots.data()[t], met, *packed);
    return packed;
}

// Eight walks of `depth` steps. The bin that walk l finds in column c is bins[c * step + l * apart].
template <int64_t step, int64_t apart>
void walk(const Cell* cells, const uint16_t* bins, int32_t depth, int32_t* at) {
    int32_t place[lanes];
    std::copy(at, at + lanes, place);
    for (int32_t level = 0; level < depth; ++level)
        for (int64_t l = 0; l < lanes; ++l) {
            const Cell cell = cells[place[l]];
            place[l] = cell.child + (bins[cell.column * step + l * apart] > cell.cut);
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
        walk<1, 0>(cells, bins.data(), depth, at);
        for (int64_t l = 0; l < count; ++l) sums[output[t + l]] += trees.values[at[l]];
    }
}

// A tree at a time for a span of rows, eight of them side by side: its cells stay in the nearest cache. Bins are laid out
// by groups of eight rows; those that a last group lacks are never added.
void add_span(const PackedTrees& trees, const Table& X, int64_t start, int64_t stop, const int64_t* output, Sums& out) {
    const int64_t p = trees.edges.size(), groups = (stop - start + lanes - 1) / lanes, outputs = out.shape(1);
    std::vector<uint16_t> bins(groups * std::max<int64_t>(p, 1) * lanes);
    for (int64_t i = start; i < stop; ++i) {
        uint16_t* group = bins.data() + (i - start) / lanes * p * lanes + (i - start) % lanes;
        for (int64_t c = 0; c < p; ++c) group[c * lanes] = trees.bin(c, X.data()[i * X.shape(1) + c]);
    }
    for (size_t t = 0; t < trees.roots.size(); ++t) {
        double* sums = out.data() + output[t];
        for (int64_t g = 0; g < groups; ++g) {
            int32_t at[lanes];
            std::fill(at, at + lanes, trees.roots[t]);
            walk<lanes, 1>(trees.cells.data(), bins.data() + g * p * lanes, trees.depths[t], at);
            const int64_t first = start + g * lanes, count = std::min(lanes, stop - first);
            for (int64_t l = 0; l < count; ++l) sums[(first + l) * outputs] += trees.values[at[l]];
        }
    }
}

void add_packed_trees(const Table& X, const PackedTrees& trees, const Vector<int64_t>& output, Sums out) {
    const int64_t n = X.shape(0), outputs = out.shape(1), n_trees = trees.roots.size();
    require(out.shape(0) == X.shape(0), "out must have a row for each row of X.");
    require(int64_t(output.shape(0)) == n_trees, "output must name a column for each tree.");
    require(trees.edges.size() <= X.shape(1), "a tree asks for a column that X has not.");
    for (int64_t t = 0; t < n_trees; ++t)
        require(output.data()[t] >= 0 && output.data()[t] < outputs, "output must name columns of out.");
    nb::gil_scoped_release released;
    if (n < lanes)
        for (int64_t i = 0; i < n; ++i)
            add_row(trees, X.data() + i * X.shape(1), output.data(), out.data() + i * outputs);
    else
        for (int64_t start = 0; start < n; start += span_rows)
            add_span(trees, X, start, std::min(n, start + span_rows), output.data(), out);
}

void row_products(const Features& Z, const Table& coef, Sums out) {
    const size_t n = Z.shape(0), d = Z.shape(1), outputs = coef.shape(1);
    require(coef.shape(0) == d, "coef must have a row for each column of Z.");
    require(out.shape(0) == n && out.shape(1) == outputs, "out must be of shape (rows, outputs).");
    nb::gil_scoped_release released;
    std::vector<double> turned(outputs > 1 ? outputs * d : 0);  // the coefficients of an output side by side
    for (size_t j = 0; j < d && outputs > 1; ++j)
        for (size_t k = 0; k < outputs; ++k) turned[k * d + j] = coef.data()[j * outputs + k];
    MERCER_PICK(serving).row_products(Z.data(), n, d, outputs > 1 ? turned.data() : coef.data(), outputs, out.data());
}

}  // namespace

void bind_serving(nb::module_& m) {
    nb::class_<PackedTrees>(m, "_PackedTrees");
    m.def("pack_trees", &pack_trees, nb::arg("roots"), nb::arg("column"), nb::arg("threshold"), nb::arg("left"),
          nb::arg("right"), nb::arg("value"));
    m.def("add_packed_trees", &add_packed_trees, nb::arg("X"), nb::arg("trees"), nb::arg("output"),
          nb::arg("out").noconvert());
    m.def("row_products", &row_products, nb::arg("Z").noconvert(), nb::arg("coef"), nb::arg("out").noconvert());
}
