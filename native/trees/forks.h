// Trees as what to do with sets of rows: plain data, for the binding file and for kernels of each level.
#pragma once

#include <cstdint>

namespace mercer {

// Of the rows in a place of a tree, those above the cut go on to the place `right`, the others to `left`. Leaves have
// the places 0, 1, ..., their codes; the j-th fork is at place 2^planes + j, after all forks that lead to it.
struct Fork {
    uint32_t cut;
    uint16_t left, right;
};

// A tree of up to 2^planes leaves; values[code] is that of a leaf.
struct ForkTree {
    const Fork* forks;
    const double* values;
    int32_t n_forks, planes;
};

// Edges of a column in order, all or a part of them: x is above the cut first + k where not x <= edges[k].
struct Cuts {
    const double* edges;
    long column, count, first;
};

struct ForkTrees {
    const ForkTree* trees;
    const Cuts* cuts;
    long n_trees, n_parts, n_cuts;
};

constexpr int most_planes = 8;  // codes of leaves are bytes
constexpr int most_edges = 255;  // and so are numbers of edges below x

}  // namespace mercer
