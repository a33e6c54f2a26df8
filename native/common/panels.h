// Rows of a matrix, and the columns of another in the layout that products of both read.
#pragma once

namespace mercer {

// Rows of a C-ordered matrix; `stride` (in elements) may exceed `columns`.
template <class T>
struct RowsView {
    T* data;
    long count, columns, stride;
};

// Columns of a matrix in panels of `panel_width`: panel[depth][panel_width]. Frequencies are in turns (over 2 pi).
template <class T>
struct Panels {
    const T* data;
    long columns, depth;
};

}  // namespace mercer
