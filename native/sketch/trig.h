// What native/sketch/trig_kernels.cpp offers at each instruction-set level.
#pragma once

#include "common/dispatch.h"
#include "common/panels.h"

namespace mercer {

template <class T>
struct TrigTable {
    long panel_width;
    void (*cos_sin)(RowsView<const T> arguments, T scale, RowsView<T> out);
    void (*cos_shifted)(RowsView<const T> arguments, const T* shift, T scale, RowsView<T> out);
    void (*fourier_cos_sin)(RowsView<const T> x, Panels<T> panels, T scale, RowsView<T> out);
    // `shift` in turns, padded to whole panels.
    void (*fourier_cos_shifted)(RowsView<const T> x, Panels<T> panels, const T* shift, T scale, RowsView<T> out);
};

struct TrigKernels {
    TrigTable<float> f32;
    TrigTable<double> f64;
};

MERCER_DECLARE_TABLE(TrigKernels, trig)

}  // namespace mercer
