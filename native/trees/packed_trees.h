// Trees laid out for sums over many of them: as cells to walk for a row, and as forks for sets of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/checks.h"
#include "trees/forks.h"

namespace mercer {

constexpr uint16_t beyond = UINT16_MAX;  // the bin of NaN: it is below no threshold

// A row's bin in `column`, if at most `cut`, leads to the child, else to the one after it. A leaf leads to itself: a walk
// need not ask whether it has come to its end, if it is as long as the tree is deep.
struct Cell {
    uint16_t column, cut;
    int32_t child;
};

struct Nodes {
    const int64_t *column, *left, *right;
    const double *threshold, *value;
    int64_t count;
};

inline void require_tree(bool holds) {
    require(holds, "a tree is not well formed.");
}

// The memory of ForkTrees.
struct ForkMemory {
    std::vector<Fork> forks;
    std::vector<double> values;
    std::vector<ForkTree> trees;
    std::vector<Cuts> cuts;
    int64_t n_cuts = 0;

    ForkTrees view() const {
        return {trees.data(), cuts.data(), long(trees.size()), long(cuts.size()), long(n_cuts)};
    }
};

// Trees by levels, each pair of children side by side. With edges e_0 < e_1 < ... the thresholds of a column, and the bin
// of x the number of edges below x, x <= e_k if and only if bin <= k: rows are binned once, and cells are small.
class PackedTrees {
public:
    std::vector<Cell> cells;
    std::vector<double> values;  // of leaves, at the place of their cell
    std::vector<int32_t> roots, depths;
    std::vector<std::vector<double>> edges;

    PackedTrees(const Nodes& nodes, const int64_t* first, size_t count) {
        edges_of(nodes);
        cells.reserve(nodes.count);
        values.reserve(nodes.count);
        std::vector<bool> met(nodes.count, false);
        for (size_t t = 0; t < count; ++t) append(nodes, first[t], met);
    }

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

    // Made when many rows first come, by whichever thread they come to; null if there is a tree of too many leaves.
    const ForkMemory* forks() const {
        std::call_once(asked_, [this] { forks_ = forked(); });
        return forks_.get();
    }

private:
    mutable std::once_flag asked_;
    mutable std::unique_ptr<ForkMemory> forks_;

    // The different thresholds of each column, in order.
    void edges_of(const Nodes& nodes) {
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
            require(each.size() < beyond, "a column has too many thresholds.");
        }
    }

    // Appends the tree below `root`. No node is met twice, so that what comes out is no larger than what went in.
    void append(const Nodes& nodes, int64_t root, std::vector<bool>& met) {
        struct Met {
            int64_t node;
            int32_t depth;
        };
        std::vector<Met> order;
        const size_t first = cells.size();
        const auto add = [&](int64_t k, int32_t depth) {
            require_tree(k >= 0 && k < nodes.count && !met[k] && cells.size() < INT32_MAX - 2);
            met[k] = true;
            order.push_back({k, depth});
            cells.push_back({0, beyond, static_cast<int32_t>(cells.size())});
            values.push_back(nodes.value[k]);
        };
        roots.push_back(static_cast<int32_t>(first));
        add(root, 0);
        for (size_t done = 0; done < order.size(); ++done) {
            const auto [k, depth] = order[done];
            const int64_t column = nodes.column[k];
            if (column < 0) continue;
            const auto cut = std::lower_bound(edges[column].begin(), edges[column].end(), nodes.threshold[k]);
            const auto child = static_cast<int32_t>(cells.size());
            cells[first + done] = {static_cast<uint16_t>(column),
                                   static_cast<uint16_t>(cut - edges[column].begin()), child};
            add(nodes.left[k], depth + 1);
            add(nodes.right[k], depth + 1);
        }
        depths.push_back(order.back().depth);
    }

    std::unique_ptr<ForkMemory> forked() const {
        auto made = std::make_unique<ForkMemory>();
        std::vector<uint32_t> first;  // cut of each column
        for (size_t column = 0; column < edges.size(); ++column) {
            first.push_back(static_cast<uint32_t>(made->n_cuts));
            const long size = edges[column].size();
            for (long k = 0; k < size; k += most_edges)
                made->cuts.push_back({edges[column].data() + k, long(column), std::min<long>(most_edges, size - k),
                                      long(made->n_cuts + k)});
            made->n_cuts += size;
        }
        made->forks.reserve(cells.size() / 2);  // as many as there will be: pointers into them stay valid
        made->values.reserve(cells.size());
        for (size_t t = 0; t < roots.size(); ++t) {
            const int32_t stop = t + 1 < roots.size() ? roots[t + 1] : int32_t(cells.size());
            if (!add_forked(roots[t], stop, first, *made)) return nullptr;
        }
        return made;
    }

    // The tree of the cells from `start` to `stop`, of which a tree of n forks has 2 n + 1.
    bool add_forked(int32_t start, int32_t stop, const std::vector<uint32_t>& first, ForkMemory& made) const {
        const int32_t n_forks = (stop - start) / 2;
        int32_t planes = 1;
        while (n_forks >= 1 << planes) ++planes;
        if (planes > most_planes) return false;
        made.trees.push_back({made.forks.data() + made.forks.size(), made.values.data() + made.values.size(), n_forks,
                              planes});
        std::vector<uint16_t> places;
        uint16_t leaf = 0, fork = static_cast<uint16_t>(1 << planes);
        for (int32_t k = start; k < stop; ++k) places.push_back(cells[k].child == k ? leaf++ : fork++);
        for (int32_t k = start; k < stop; ++k) {
            const Cell& cell = cells[k];
            if (cell.child == k) made.values.push_back(values[k]);
            else
                made.forks.push_back({first[cell.column] + cell.cut,
                                      places[cell.child - start], places[cell.child + 1 - start]});
        }
        return true;
    }
};

}  // namespace mercer
