// Compiled twins of mercer/_numeric/boosting.py: one tree grown leaf by leaf on binned columns, and sums over trees.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

using Bins = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Gradient and hessian of the rows of one bin, side by side so that one vector addition serves both.
struct Cell {
    double g = 0, h = 0;
};

// Up to so many rows, only the nodes that they visit are checked.
constexpr int64_t few_rows = 8;
constexpr int64_t span_rows = 512;

struct Split {
    double gain = 0;
    int64_t column = -1, bin = -1;
};

struct Leaf {
    size_t begin, end, node;
    double g, h;
    std::vector<Cell> cells;
    Split split;
};

struct Tree {
    std::vector<int64_t> column, bin, left, right;
    std::vector<double> value, gain;
    std::vector<int64_t> place;  // the leaf that each of the rows reached

    size_t add(double leaf_value) {
        column.push_back(-1);
        bin.push_back(-1);
        left.push_back(-1);
        right.push_back(-1);
        value.push_back(leaf_value);
        gain.push_back(0);
        return value.size() - 1;
    }
};

class Grower {
public:
    Grower(const Bins& bins, const Vector<double>& gradient, const Vector<double>& hessian,
           const Vector<int64_t>& columns, const Vector<int64_t>& rows, const Vector<int64_t>& widths,
           double least_hessian, double l2)
        : bins_(bins.data()), n_columns_(bins.shape(1)), gradient_(gradient.data()), hessian_(hessian.data()),
          columns_(columns.data(), columns.data() + columns.shape(0)), rows_(rows.data(), rows.data() + rows.shape(0)),
          order_(rows.shape(0)), spare_(rows.shape(0)), least_(least_hessian), l2_(l2) {
        std::iota(order_.begin(), order_.end(), int64_t{0});
        offsets_.push_back(0);
        for (int64_t column : columns_) offsets_.push_back(offsets_.back() + widths.data()[column]);
    }

    Tree grow(size_t max_leaves) {
        Tree tree;
        std::vector<Leaf> leaves;
        leaves.push_back(root());
        tree.add(value_of(leaves[0]));
        tree.place.resize(rows_.size());
        while (leaves.size() < max_leaves) {
            size_t best = 0;
            for (size_t k = 1; k < leaves.size(); ++k)
                if (leaves[k].split.gain > leaves[best].split.gain) best = k;
            if (leaves[best].split.column < 0) break;
            divide(tree, leaves, best);
        }
        for (const Leaf& leaf : leaves)
            for (size_t k = leaf.begin; k < leaf.end; ++k) tree.place[order_[k]] = leaf.node;
        return tree;
    }

private:
    double value_of(const Leaf& leaf) const { return -leaf.g / (leaf.h + l2_); }
    double score(double g, double h) const { return g * g / (h + l2_); }

    Leaf root() {
        Leaf leaf{0, rows_.size(), 0, 0, 0, {}, {}};
        leaf.cells = gather(0, rows_.size());
        for (int64_t k = 0; k < offsets_[1]; ++k) leaf.g += leaf.cells[k].g, leaf.h += leaf.cells[k].h;
        leaf.split = best_split(leaf);
        return leaf;
    }

    std::vector<Cell> gather(size_t begin, size_t end) const {
        // Room for 256 more: whatever byte a bin holds, it is counted inside.
        std::vector<Cell> cells(offsets_.back() + 256);
        for (size_t k = begin; k < end; ++k) {
            const int64_t row = rows_[order_[k]];
            const double g = gradient_[row], h = hessian_[row];
            const uint8_t* bin = bins_ + row * n_columns_;
            for (size_t c = 0; c < columns_.size(); ++c) {
                Cell& cell = cells[offsets_[c] + bin[columns_[c]]];
                cell.g += g;
                cell.h += h;
            }
        }
        return cells;
    }

    Split best_split(const Leaf& leaf) const {
        Split best;
        if (leaf.h < 2 * least_) return best;
        const double whole = score(leaf.g, leaf.h);
        for (size_t c = 0; c < columns_.size(); ++c) {
            double g = 0, h = 0;
            for (int64_t k = offsets_[c]; k + 1 < offsets_[c + 1]; ++k) {
                g += leaf.cells[k].g;
                h += leaf.cells[k].h;
                if (h < least_) continue;
                if (leaf.h - h < least_) break;
                const double gain = score(g, h) + score(leaf.g - g, leaf.h - h) - whole;
                if (gain > best.gain) best = {gain, columns_[c], k - offsets_[c]};
            }
        }
        return best;
    }

    void divide(Tree& tree, std::vector<Leaf>& leaves, size_t place) {
        Leaf parent = std::move(leaves[place]);
        const size_t middle = partition(parent);
        Leaf left{parent.begin, middle, 0, 0, 0, {}, {}}, right{middle, parent.end, 0, 0, 0, {}, {}};
        const bool left_is_less = middle - parent.begin <= parent.end - middle;
        Leaf &less = left_is_less ? left : right, &more = left_is_less ? right : left;
        less.cells = gather(less.begin, less.end);
        more.cells = std::move(parent.cells);
        for (size_t k = 0; k < more.cells.size(); ++k) {
            more.cells[k].g -= less.cells[k].g;
            more.cells[k].h -= less.cells[k].h;
        }
        for (int64_t k = 0; k < offsets_[1]; ++k) less.g += less.cells[k].g, less.h += less.cells[k].h;
        more.g = parent.g - less.g;
        more.h = parent.h - less.h;
        for (Leaf* leaf : {&left, &right}) {
            leaf->split = best_split(*leaf);
            leaf->node = tree.add(value_of(*leaf));
        }
        tree.column[parent.node] = parent.split.column;
        tree.bin[parent.node] = parent.split.bin;
        tree.gain[parent.node] = parent.split.gain;
        tree.left[parent.node] = left.node;
        tree.right[parent.node] = right.node;
        leaves[place] = std::move(left);
        leaves.push_back(std::move(right));
    }

    // The rows of the left child first, both in their order.
    size_t partition(const Leaf& leaf) {
        size_t low = leaf.begin, high = 0;
        for (size_t k = leaf.begin; k < leaf.end; ++k) {
            const int64_t at = order_[k];
            const bool goes_left = bins_[rows_[at] * n_columns_ + leaf.split.column] <= leaf.split.bin;
            order_[low] = at;
            spare_[high] = at;
            low += goes_left;
            high += !goes_left;
        }
        std::copy(spare_.begin(), spare_.begin() + high, order_.begin() + low);
        return low;
    }

    const uint8_t* bins_;
    size_t n_columns_;
    const double *gradient_, *hessian_;
    std::vector<int64_t> columns_, rows_, order_, spare_, offsets_;
    double least_, l2_;
};

void check(const Bins& bins, const Vector<double>& gradient, const Vector<double>& hessian,
           const Vector<int64_t>& columns, const Vector<int64_t>& rows, const Vector<int64_t>& widths) {
    const int64_t n = bins.shape(0), p = bins.shape(1);
    if (static_cast<int64_t>(gradient.shape(0)) != n || static_cast<int64_t>(hessian.shape(0)) != n)
        throw std::invalid_argument("gradient and hessian must have one entry for each row.");
    if (static_cast<int64_t>(widths.shape(0)) != p || columns.shape(0) == 0)
        throw std::invalid_argument("there must be a width for each column, and a column to split on.");
    for (size_t k = 0; k < columns.shape(0); ++k)
        if (columns.data()[k] < 0 || columns.data()[k] >= p) throw std::invalid_argument("no such column.");
    for (size_t k = 0; k < rows.shape(0); ++k)
        if (rows.data()[k] < 0 || rows.data()[k] >= n) throw std::invalid_argument("no such row.");
    for (size_t k = 0; k < widths.shape(0); ++k)
        if (widths.data()[k] < 1 || widths.data()[k] > 256)
            throw std::invalid_argument("a column has 1 to 256 bins.");
}

auto grow_boosted_tree(const Bins& bins, const Vector<double>& gradient, const Vector<double>& hessian,
               const Vector<int64_t>& columns, const Vector<int64_t>& rows, const Vector<int64_t>& widths,
               size_t max_leaves, double least_hessian, double l2) {
    Tree tree;
    {
        nb::gil_scoped_release released;
        check(bins, gradient, hessian, columns, rows, widths);
        tree = Grower(bins, gradient, hessian, columns, rows, widths, least_hessian, l2).grow(max_leaves);
    }
    const std::vector<size_t> shape{tree.value.size()}, n_rows{tree.place.size()};
    return std::make_tuple(owned_array(std::move(tree.column), shape), owned_array(std::move(tree.bin), shape),
                           owned_array(std::move(tree.left), shape), owned_array(std::move(tree.right), shape),
                           owned_array(std::move(tree.value), shape), owned_array(std::move(tree.gain), shape),
                           owned_array(std::move(tree.place), n_rows));
}

void add_boosted_trees(const Table& X, const Vector<int64_t>& roots, const Vector<int64_t>& column,
               const Vector<double>& threshold, const Vector<int64_t>& left, const Vector<int64_t>& right,
               const Vector<double>& value, const Vector<int64_t>& output, Sums out) {
    nb::gil_scoped_release released;
    const int64_t n = X.shape(0), p = X.shape(1), nodes = column.shape(0), outputs = out.shape(1);
    if (out.shape(0) != X.shape(0)) throw std::invalid_argument("out must have a row for each row of X.");
    for (size_t t = 0; t < roots.shape(0); ++t)
        if (roots.data()[t] < 0 || roots.data()[t] >= nodes || output.data()[t] < 0 || output.data()[t] >= outputs)
            throw std::invalid_argument("a tree is not well formed.");
    // Children come after their parent, so every walk ends.
    const auto check_node = [&](int64_t k) {
        if (column.data()[k] >= p) throw std::invalid_argument("a tree asks for a column that X has not.");
        if (left.data()[k] <= k || right.data()[k] <= k || left.data()[k] >= nodes || right.data()[k] >= nodes)
            throw std::invalid_argument("a tree is not well formed.");
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

void bind_boosting(nb::module_& m) {
    m.def("grow_boosted_tree", &grow_boosted_tree, nb::arg("bins"), nb::arg("gradient"), nb::arg("hessian"), nb::arg("columns"),
          nb::arg("rows"), nb::arg("widths"), nb::arg("max_leaves"), nb::arg("least_hessian"), nb::arg("l2"));
    m.def("add_boosted_trees", &add_boosted_trees, nb::arg("X"), nb::arg("roots"), nb::arg("column"), nb::arg("threshold"),
          nb::arg("left"), nb::arg("right"), nb::arg("value"), nb::arg("output"), nb::arg("out").noconvert());
}
