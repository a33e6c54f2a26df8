// The product of rows with the columns of a packed matrix, tile by tile: for kernel files only.
//
// A tile of the product, tile_rows x panel_width, is held in registers, and `Output` says what becomes of it there:
// `start(column)` points to what sums begin with (null: zero), `finish(sums, row, column, width)` takes them. Every
// element sees the same operations in the same order wherever its row lies, so results do not depend on how rows are
// split into blocks.
#pragma once

#include "common/panels.h"
#include "common/simd.h"

namespace mercer::MERCER_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int tile_rows = 8;  // 16 of 32 registers hold sums; more rows would run out of address registers
#else
constexpr int tile_rows = 6;  // 12 of 16 registers hold sums
#endif

template <class T> constexpr int panel_width = 2 * lanes<T>;
// A row block's panels must stay in the first-level cache and its rows in the second.
constexpr long panel_group_bytes = 16 * 1024;
template <class T> constexpr long depth_block = panel_group_bytes / (panel_width<T> * sizeof(T));
constexpr long row_block = 96;
static_assert(row_block % tile_rows == 0);

inline long smaller(long a, long b) { return a < b ? a : b; }

template <class T> inline Pair<T> load_pair(const T* from) { return {load(from), load(from + lanes<T>)}; }
// Ordinary stores: streaming ones (past the cache) were 5-13 % slower on a Zen 3, even for results of 300 MB.
template <class T> inline void store_pair(T* to, Pair<T> value) {
    store<T>(to, value.low);
    store<T>(to + lanes<T>, value.high);
}
template <class T> inline Pair<T> operator*(T scale, Pair<T> x) { return {scale * x.low, scale * x.high}; }

// The first `width` elements of a pair; the last columns of a matrix may not fill it.
template <class T> inline void store_some(T* to, Pair<T> value, long width) {
    if (width == panel_width<T>) return store_pair(to, value);
    T whole[panel_width<T>];
    store_pair(whole, value);
    for (long i = 0; i < width; ++i) to[i] = whole[i];
}
template <class T> inline Pair<T> load_some(const T* from, long width) {
    if (width == panel_width<T>) return load_pair(from);
    T whole[panel_width<T>] = {};
    for (long i = 0; i < width; ++i) whole[i] = from[i];
    return load_pair(whole);
}

template <class T> struct Tile {
    RowsView<const T> x;
    const T* panel;  // at this depth
    long row, column, width;
    long depth_from, depth_to, depth_end;
    T* partial;  // sums of earlier depths, [row of the tile][panel_width]
};

template <class T, int rows> inline void multiply(const Tile<T>& tile, Pair<T> (&sums)[rows]) {
    const T* x = tile.x.data + tile.row * tile.x.stride;
    const T* panel = tile.panel;
    // Unrolled: the instructions of loop counters matter when hardware threads share a core.
#pragma GCC unroll 4
    for (long k = tile.depth_from; k < tile.depth_to; ++k, panel += panel_width<T>) {
        const Pair<T> w = load_pair(panel);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
            const T value = x[r * tile.x.stride + k];
            sums[r].low += value * w.low;
            sums[r].high += value * w.high;
        }
    }
}

template <class T, int rows, class Output> void run_tile(const Tile<T>& tile, const Output& output) {
    Pair<T> sums[rows];
    const T* start = output.start(tile.column);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
        sums[r] = tile.depth_from > 0 ? load_pair(tile.partial + r * panel_width<T>)
                  : start             ? load_pair(start)
                                      : Pair<T>{};
    multiply<T, rows>(tile, sums);
    if (tile.depth_to < tile.depth_end) {
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) store_pair(tile.partial + r * panel_width<T>, sums[r]);
        return;
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) output.finish(sums[r], tile.row + r, tile.column, tile.width);
}

// The last rows: the same operations on fewer of them.
template <class T, int rows, class Output> void run_last_tile(const Tile<T>& tile, long left, const Output& output) {
    if constexpr (rows > 0) {
        if (left == rows) return run_tile<T, rows>(tile, output);
        run_last_tile<T, rows - 1>(tile, left, output);
    }
}

// RowsView [first, last) times panels [panel_first, panel_last).
template <class T, class Output>
void run_group(RowsView<const T> x, Panels<T> w, long first, long last, long panel_first, long panel_last,
               const Output& output) {
    constexpr long width = panel_width<T>;
    alignas(64) T partial[row_block * width];  // used only when one panel is a group of its own
    for (long depth = 0; depth == 0 || depth < w.depth; depth += depth_block<T>) {
        const long depth_to = smaller(w.depth, depth + depth_block<T>);
        for (long row = first; row < last; row += tile_rows) {
            for (long panel = panel_first; panel < panel_last; ++panel) {
                const Tile<T> tile{x,
                                   w.data + (panel * w.depth + depth) * width,
                                   row,
                                   panel * width,
                                   smaller(width, w.columns - panel * width),
                                   depth,
                                   depth_to,
                                   w.depth,
                                   partial + (row - first) * width};
                if (last - row >= tile_rows) run_tile<T, tile_rows>(tile, output);
                else run_last_tile<T, tile_rows - 1>(tile, last - row, output);
            }
        }
    }
}

template <class T, class Output> void run(RowsView<const T> x, Panels<T> w, const Output& output) {
    const long panels = (w.columns + panel_width<T> - 1) / panel_width<T>;
    const long group = w.depth < depth_block<T> ? depth_block<T> / (w.depth > 0 ? w.depth : 1) : 1;
    for (long first = 0; first < x.count; first += row_block) {
        const long last = smaller(x.count, first + row_block);
        for (long panel = 0; panel < panels; panel += group)
            run_group(x, w, first, last, panel, smaller(panels, panel + group), output);
    }
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
