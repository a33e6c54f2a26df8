// Trees packed for prediction: as cells that single rows walk, and as splits of sets of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/checks.h"
#include "trees/splits.h"

namespace mercer {

constexpr uint16_t nan_bin = UINT16_MAX;  // above all thresholds

// A row whose bin in `column` is at most `cut` goes to `child`, any other to the cell after it. A leaf is its own
// child, so a walk of as many steps as the tree is deep needs no test for its end.
struct Cell {
    uint16_t column, cut;
    int32_t child;
};

struct Nodes {
    const int64_t *column, *left, *right;
    const double *threshold, *value;
    int64_t count;
};

inline void require_tree(bool holds) { require(holds, "a tree is not well formed."); }

// Owns the memory of SplitTrees.
struct SplitMemory {
    std::vector<Split> splits;
    std::vector<double> values;
    std::vector<SplitTree> trees;
    std::vector<Cuts> cuts;
    int64_t n_cuts = 0;

    SplitTrees view() const { return {trees.data(), cuts.data(), long(trees.size()), long(cuts.size()), long(n_cuts)}; }
};

// Trees in breadth-first order, siblings adjacent. Let e_0 < e_1 < ... be the thresholds of a column and bin(x) the
// number of thresholds below x: then x <= e_k if and only if bin(x) <= k, so rows are binned once and cells stay small.
class PackedTrees {
  public:
    std::vector<Cell> cells;
    std::vector<double> values;  // of leaves, at the index of their cell
    std::vector<int32_t> roots, depths;
    std::vector<std::vector<double>> edges;

    PackedTrees(const Nodes& nodes, const int64_t* first, size_t count) {
        edges_of(nodes);
        cells.reserve(nodes.count);
        values.reserve(nodes.count);
        std::vector<bool> visited(nodes.count, false);
        for (size_t t = 0; t < count; ++t) append(nodes, first[t], visited);
    }

    uint16_t bin(size_t column, double x) const {
        if (x != x) return nan_bin;
        const double* edge = edges[column].data();
        size_t below = 0;
        for (size_t size = edges[column].size(); size > 0;) {  // e[below - 1] < x; `size` candidates remain
            const size_t half = (size + 1) / 2;
            below += edge[below + half - 1] < x ? half : 0;
            size -= half;
        }
        return static_cast<uint16_t>(below);
    }

    // Made on first use, by any thread; null if a tree has too many leaves.
    const SplitMemory* splits() const {
        std::call_once(once_, [this] { splits_ = split_trees(); });
        return splits_.get();
    }

  private:
    mutable std::once_flag once_;
    mutable std::unique_ptr<SplitMemory> splits_;

    // The distinct thresholds of each column, sorted.
    void edges_of(const Nodes& nodes) {
        for (int64_t k = 0; k < nodes.count; ++k) {
            const int64_t column = nodes.column[k];
            if (column < 0) continue;
            require_tree(column < nan_bin && nodes.threshold[k] == nodes.threshold[k]);
            if (size_t(column) >= edges.size()) edges.resize(column + 1);
            edges[column].push_back(nodes.threshold[k]);
        }
        for (auto& each : edges) {
            std::sort(each.begin(), each.end());
            each.erase(std::unique(each.begin(), each.end()), each.end());
            require(each.size() < nan_bin, "a column has too many thresholds.");
        }
    }

    // Appends the tree below `root`. Visiting a node twice is an error, which bounds the output by the input.
    void append(const Nodes& nodes, int64_t root, std::vector<bool>& visited) {
        struct Visit {
            int64_t node;
            int32_t depth;
        };
        std::vector<Visit> order;
        const size_t first = cells.size();
        const auto add = [&](int64_t k, int32_t depth) {
            require_tree(k >= 0 && k < nodes.count && !visited[k] && cells.size() < INT32_MAX - 2);
            visited[k] = true;
            order.push_back({k, depth});
            cells.push_back({0, nan_bin, static_cast<int32_t>(cells.size())});
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
            cells[first + done] = {static_cast<uint16_t>(column), static_cast<uint16_t>(cut - edges[column].begin()),
                                   child};
            add(nodes.left[k], depth + 1);
            add(nodes.right[k], depth + 1);
        }
        depths.push_back(order.back().depth);
    }

    std::unique_ptr<SplitMemory> split_trees() const {
        auto made = std::make_unique<SplitMemory>();
        std::vector<uint32_t> first;  // cut of each column
        for (size_t column = 0; column < edges.size(); ++column) {
            first.push_back(static_cast<uint32_t>(made->n_cuts));
            const long size = edges[column].size();
            for (long k = 0; k < size; k += max_edges)
                made->cuts.push_back({edges[column].data() + k, long(column), std::min<long>(max_edges, size - k),
                                      long(made->n_cuts + k)});
            made->n_cuts += size;
        }
        made->splits.reserve(cells.size() / 2);  // the final size: pointers into them stay valid
        made->values.reserve(cells.size());
        for (size_t t = 0; t < roots.size(); ++t) {
            const int32_t stop = t + 1 < roots.size() ? roots[t + 1] : int32_t(cells.size());
            if (!add_split_tree(roots[t], stop, first, *made)) return nullptr;
        }
        return made;
    }

    // The tree of the cells from `start` to `stop`: 2 n + 1 of them for n splits.
    bool add_split_tree(int32_t start, int32_t stop, const std::vector<uint32_t>& first, SplitMemory& made) const {
        const int32_t n_splits = (stop - start) / 2;
        int32_t planes = 1;
        while (n_splits >= 1 << planes) ++planes;
        if (planes > max_planes) return false;
        made.trees.push_back(
            {made.splits.data() + made.splits.size(), made.values.data() + made.values.size(), n_splits, planes});
        std::vector<uint16_t> indices;
        uint16_t leaf = 0, split = static_cast<uint16_t>(1 << planes);
        for (int32_t k = start; k < stop; ++k) indices.push_back(cells[k].child == k ? leaf++ : split++);
        for (int32_t k = start; k < stop; ++k) {
            const Cell& cell = cells[k];
            if (cell.child == k) made.values.push_back(values[k]);
            else
                made.splits.push_back(
                    {first[cell.column] + cell.cut, indices[cell.child - start], indices[cell.child + 1 - start]});
        }
        return true;
    }
};

}  // namespace mercer
