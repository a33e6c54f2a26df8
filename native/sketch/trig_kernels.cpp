// Cosines and sines of given arguments, and of a product of rows with frequencies computed on the way.
//
// The fused kernels hold a tile of the product, tile_rows x panel_width, in registers, turn it into cosines there and
// store it once: the arguments never reach memory. Every output element sees the same operations in the same order
// wherever its row lies, so results do not depend on how rows are split into blocks.
#include "common/tiles.h"
#include "sketch/trig.h"
#include "sketch/trig_sine.h"

namespace mercer::MERCER_LEVEL {
namespace {

// ---- what becomes of finished arguments ----

template <class T> struct CosSin {
    T scale;
    RowsView<T> out;
    const T* start(long) const { return nullptr; }
    void finish(Pair<T> turns, long row, long column, long width) const {
        T* to = out.data + row * out.stride + column;
        store_some(to, scale * cosine_of_turns(turns), width);
        store_some(to + out.columns / 2, scale * sine_of_turns(turns), width);
    }
};

template <class T> struct CosShifted {
    T scale;
    RowsView<T> out;
    const T* shift;  // in turns
    const T* start(long column) const { return shift + column; }
    void finish(Pair<T> turns, long row, long column, long width) const {
        store_some(out.data + row * out.stride + column, scale * cosine_of_turns(turns), width);
    }
};

template <class T> void fourier_cos_sin(RowsView<const T> x, Panels<T> w, T scale, RowsView<T> out) {
    run(x, w, CosSin<T>{scale, out});
}
template <class T> void fourier_cos_shifted(RowsView<const T> x, Panels<T> w, const T* shift, T scale,
                                            RowsView<T> out) {
    run(x, w, CosShifted<T>{scale, out, shift});
}

// ---- given arguments ----

template <class T> void cos_sin(RowsView<const T> arguments, T scale, RowsView<T> out) {
    for (long row = 0; row < arguments.count; ++row) {
        const T* from = arguments.data + row * arguments.stride;
        T* to = out.data + row * out.stride;
        for (long column = 0; column < arguments.columns; column += panel_width<T>) {
            const long width = smaller(panel_width<T>, arguments.columns - column);
            const Pair<T> argument = load_some(from + column, width);
            store_some(to + column, scale * cosine_of_radians(argument), width);
            store_some(to + arguments.columns + column, scale * sine_of_radians(argument), width);
        }
    }
}

template <class T> void cos_shifted(RowsView<const T> arguments, const T* shift, T scale, RowsView<T> out) {
    for (long row = 0; row < arguments.count; ++row) {
        const T* from = arguments.data + row * arguments.stride;
        T* to = out.data + row * out.stride;
        for (long column = 0; column < arguments.columns; column += panel_width<T>) {
            const long width = smaller(panel_width<T>, arguments.columns - column);
            const Pair<T> argument = load_some(from + column, width), shifts = load_some(shift + column, width);
            const Pair<T> sum{argument.low + shifts.low, argument.high + shifts.high};
            store_some(to + column, scale * cosine_of_radians(sum), width);
        }
    }
}

template <class T>
constexpr TrigTable<T> table{panel_width<T>, cos_sin<T>, cos_shifted<T>, fourier_cos_sin<T>, fourier_cos_shifted<T>};

}  // namespace

// Constant initialization: nothing of a level may run before it is chosen.
extern const TrigKernels trig;
constinit const TrigKernels trig{table<float>, table<double>};

}  // namespace mercer::MERCER_LEVEL
