// Compiled twins of mercer/_numeric/trees.py: regression trees on histograms of binned columns.
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

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<nb::numpy, int32_t>;

struct Split {
    double gain = 0.0;
    int32_t feature = -1;
    int32_t bin = 0;
};

struct Leaf {
    int32_t node;
    size_t begin, end;
    std::vector<double> sums;  // for each column and bin: the weight, then the gradient of each output
    Split split;
};

struct Grower {
    const uint8_t* bins;
    const double* gradient;
    const double* weight;
    size_t n, d, c, n_bins;
    double min_weight;
    std::vector<int32_t> order, feature, threshold, left, right;
    std::vector<Leaf> leaves;

    size_t width() const { return c + 1; }

    int32_t new_node() {
        feature.push_back(-1);
        threshold.push_back(0);
        left.push_back(-1);
        right.push_back(-1);
        return static_cast<int32_t>(feature.size()) - 1;
    }

    void add_rows(Leaf& leaf) const {
        leaf.sums.assign(d * n_bins * width(), 0.0);
        double* sums = leaf.sums.data();
        for (size_t k = leaf.begin; k < leaf.end; ++k) {
            const size_t i = static_cast<size_t>(order[k]);
            const uint8_t* row = bins + i * d;
            const double w = weight[i];
            if (c == 1) {
                const double g = gradient[i];
                for (size_t j = 0; j < d; ++j) {
                    double* cell = sums + 2 * (j * n_bins + row[j]);
                    cell[0] += w;
                    cell[1] += g;
                }
            } else {
                const double* g = gradient + i * c;
                for (size_t j = 0; j < d; ++j) {
                    double* cell = sums + width() * (j * n_bins + row[j]);
                    cell[0] += w;
                    for (size_t o = 0; o < c; ++o) cell[1 + o] += g[o];
                }
            }
        }
    }

    // Of all cuts "bin <= b" the one that lowers the squared error most; the first of equals.
    void find_split(Leaf& leaf) const {
        std::vector<double> total(width(), 0.0), below(width());
        for (size_t b = 0; b < n_bins; ++b)
            for (size_t o = 0; o < width(); ++o) total[o] += leaf.sums[b * width() + o];
        double base = 0.0;
        for (size_t o = 1; o < width(); ++o) base += total[o] * total[o];
        base = total[0] > 0 ? base / total[0] : 0.0;
        leaf.split = Split{};
        double best = base * (1.0 + 1e-12) + 1e-300;
        for (size_t j = 0; j < d; ++j) {
            std::fill(below.begin(), below.end(), 0.0);
            const double* cell = leaf.sums.data() + j * n_bins * width();
            for (size_t b = 0; b + 1 < n_bins; ++b, cell += width()) {
                if (cell[0] == 0.0) continue;
                for (size_t o = 0; o < width(); ++o) below[o] += cell[o];
                const double above = total[0] - below[0];
                if (below[0] < min_weight) continue;
                if (above < min_weight || above <= 0.0) break;
                double low = 0.0, high = 0.0;
                for (size_t o = 1; o < width(); ++o) {
                    const double rest = total[o] - below[o];
                    low += below[o] * below[o];
                    high += rest * rest;
                }
                const double value = low / below[0] + high / above;
                if (value > best) {
                    best = value;
                    leaf.split = {value - base, static_cast<int32_t>(j), static_cast<int32_t>(b)};
                }
            }
        }
    }

    void cut(size_t place) {
        Leaf& parent = leaves[place];
        const Split split = parent.split;
        const auto goes_left = [&](int32_t i) {
            return bins[static_cast<size_t>(i) * d + static_cast<size_t>(split.feature)] <= split.bin;
        };
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(parent.begin);
        const auto last = order.begin() + static_cast<std::ptrdiff_t>(parent.end);
        const size_t middle = static_cast<size_t>(std::stable_partition(first, last, goes_left) - order.begin());
        const int32_t a = new_node(), b = new_node();
        feature[static_cast<size_t>(parent.node)] = split.feature;
        threshold[static_cast<size_t>(parent.node)] = split.bin;
        left[static_cast<size_t>(parent.node)] = a;
        right[static_cast<size_t>(parent.node)] = b;
        Leaf low{a, parent.begin, middle, {}, {}}, high{b, middle, parent.end, {}, {}};
        Leaf& small = low.end - low.begin <= high.end - high.begin ? low : high;
        Leaf& large = &small == &low ? high : low;
        add_rows(small);
        large.sums = std::move(parent.sums);  // what the other child does not have
        for (size_t k = 0; k < large.sums.size(); ++k) large.sums[k] -= small.sums[k];
        find_split(low);
        find_split(high);
        leaves[place] = std::move(low);
        leaves.push_back(std::move(high));
    }

    void grow(size_t max_leaves) {
        order.resize(n);
        std::iota(order.begin(), order.end(), 0);
        Leaf root{new_node(), 0, n, {}, {}};
        add_rows(root);
        find_split(root);
        leaves.push_back(std::move(root));
        while (leaves.size() < max_leaves) {
            size_t best = 0;
            for (size_t k = 1; k < leaves.size(); ++k)
                if (leaves[k].split.gain > leaves[best].split.gain) best = k;
            if (leaves[best].split.feature < 0) break;
            cut(best);
        }
    }
};

std::tuple<Ints, Ints, Ints, Ints, Ints> grow_tree(const Rows<uint8_t>& bins, const Rows<double>& gradient,
                                                   const Vector<double>& weight, size_t max_leaves,
                                                   double min_weight) {
    const size_t n = bins.shape(0), d = bins.shape(1), c = gradient.shape(1);
    if (gradient.shape(0) != n || weight.shape(0) != n)
        throw std::invalid_argument("bins, gradient and weight must have as many rows.");
    if (n == 0 || d == 0 || max_leaves < 1) throw std::invalid_argument("a tree needs rows, columns and a leaf.");
    std::vector<int32_t> leaf(n);
    Grower grower{bins.data(), gradient.data(), weight.data(), n, d, c, 1, min_weight, {}, {}, {}, {}, {}, {}};
    {
        nb::gil_scoped_release release;
        grower.n_bins = 1 + static_cast<size_t>(*std::max_element(bins.data(), bins.data() + n * d));
        grower.grow(max_leaves);
        for (const Leaf& found : grower.leaves)
            for (size_t k = found.begin; k < found.end; ++k) leaf[static_cast<size_t>(grower.order[k])] = found.node;
    }
    const size_t nodes = grower.feature.size();
    return {owned_array(std::move(grower.feature), {nodes}), owned_array(std::move(grower.threshold), {nodes}),
            owned_array(std::move(grower.left), {nodes}), owned_array(std::move(grower.right), {nodes}),
            owned_array(std::move(leaf), {n})};
}

Ints tree_leaves(const Rows<uint8_t>& bins, const Vector<int32_t>& feature, const Vector<int32_t>& threshold,
                 const Vector<int32_t>& left, const Vector<int32_t>& right, const Vector<int32_t>& roots) {
    const size_t n = bins.shape(0), d = bins.shape(1), trees = roots.shape(0), nodes = feature.shape(0);
    if (threshold.shape(0) != nodes || left.shape(0) != nodes || right.shape(0) != nodes)
        throw std::invalid_argument("feature, threshold, left and right must describe the same nodes.");
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

}  // namespace

void bind_trees(nb::module_& m) {
    using nb::arg;
    m.def("grow_tree", &grow_tree, arg("bins").noconvert(), arg("gradient").noconvert(), arg("weight"),
          arg("max_leaves"), arg("min_weight"));
    m.def("tree_leaves", &tree_leaves, arg("bins").noconvert(), arg("feature"), arg("threshold"), arg("left"),
          arg("right"), arg("roots"));
}
