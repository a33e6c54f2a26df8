// Trees as operations on sets of rows: plain data shared by the binding and by the kernels of each level.
#pragma once

#include <cstdint>

namespace mercer {

// A split sends the rows above its cut to the node `right` and the others to `left`. Leaves have the indices 0, 1, ...,
// their codes; the j-th split has the index 2^planes + j and comes after its ancestors.
struct Split {
    uint32_t cut;
    uint16_t left, right;
};

// A tree of up to 2^planes leaves; values[code] is the value of a leaf.
struct SplitTree {
    const Split* splits;
    const double* values;
    int32_t n_splits, planes;
};

// Sorted thresholds of a column, all or a part of them: x is above the cut first + k unless x <= edges[k].
struct Cuts {
    const double* edges;
    long column, count, first;
};

struct SplitTrees {
    const SplitTree* trees;
    const Cuts* cuts;
    long n_trees, n_parts, n_cuts;
};

constexpr int max_planes = 8;   // leaf codes are bytes
constexpr int max_edges = 255;  // bin indices are bytes

}  // namespace mercer
