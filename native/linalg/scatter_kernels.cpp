// The product Z'Z of tall rows, accumulated in double, which BLAS does not offer for float rows.
//
// Rows are taken 1,024 at a time and cut into layers that fit the first cache. Columns are packed into thin panels (4
// columns) and, one after the other, wide panels (3 vectors, or 2 of two numbers each): a tile of 4 x 3 vectors stays
// in registers for all rows of a layer, and is then widened and added to a strip, the columns of S that belong to the
// wide panel. Packing also centers and weights the rows and sums the columns.
#include "common/vector_width.h"
#include "linalg/scatter.h"

namespace mercer::MERCER_LEVEL {
namespace {

constexpr long thin = 4, max_vectors = 3;
constexpr long rows_at_once = 1024, rows_per_visit = 8;
constexpr long layer_rows = 24 * 1024 / (max_vectors * vector_bytes);  // a wide panel of 24 kB
constexpr long layers_at_once = rows_at_once / layer_rows;
template <class T> constexpr long panels_at_once = 512 / sizeof(T);  // thin panels that the last cache holds: 2 MB
constexpr long panel_rows = layer_rows + 4;                          // panels that start in different sets of the cache

template <class T> struct Types;
template <> struct Types<float> {
    typedef float Vector __attribute__((vector_size(vector_bytes)));
    typedef float Quad __attribute__((vector_size(thin * sizeof(float))));
    typedef double WideQuad __attribute__((vector_size(thin * sizeof(double))));
};
template <> struct Types<double> {
    typedef double Vector __attribute__((vector_size(vector_bytes)));
    typedef double Quad __attribute__((vector_size(thin * sizeof(double))));
    typedef Quad WideQuad;
};

template <class T> constexpr long lanes = vector_bytes / sizeof(T);
// A wide panel is a whole number of thin panels.
template <class T> constexpr long vectors = lanes<T> < thin ? 2 : max_vectors;
template <class T> constexpr long wide = vectors<T> * lanes<T>;
static_assert(wide<float> % thin == 0 && wide<double> % thin == 0);

template <class V, class T> inline V loaded(const T* x) {
    V v;
    __builtin_memcpy(&v, x, sizeof v);
    return v;
}
template <class V, class T> inline void store(T* x, V v) { __builtin_memcpy(x, &v, sizeof v); }

constexpr long smaller(long a, long b) { return a < b ? a : b; }
constexpr long divide_up(long n, long size) { return (n + size - 1) / size; }

// Working memory, in entries of T: thin panels of all layers, one wide panel, and in doubles the sums and a strip.
template <class T> struct Workspace {
    static constexpr long per_double = sizeof(double) / sizeof(T);
    long panels, wide_at, sums_at, strip_at, size;

    constexpr long layer() const { return panels * panel_rows * thin; }

    explicit constexpr Workspace(long columns) {
        panels = divide_up(columns, wide<T>) * (wide<T> / thin);
        wide_at = layers_at_once * layer();  // a multiple of 16, like all sizes here
        sums_at = wide_at + layer_rows * wide<T>;
        strip_at = sums_at + panels * thin * per_double;
        size = strip_at + smaller(panels, panels_at_once<T>) * thin * wide<T> * per_double;
    }
};

template <class T> long workspace_size(long columns) { return Workspace<T>(columns).size; }

// The next quad of columns of a thin_panel rows into its thin panel, and their sum.
template <class T, bool centered, bool weighted>
inline void pack_quad(const T* x, long step, long rows, long known, const T* origin, const T* root, T* panel,
                      double* sums) {
    using Quad = typename Types<T>::Quad;
    using WideQuad = typename Types<T>::WideQuad;
    Quad sum = {}, from = {};
    if (centered)
        for (long j = 0; j < known; ++j) from[j] = origin[j];
    for (long r = 0; r < rows; ++r, x += step, panel += thin) {
        Quad z = {};
        if (known == thin) z = loaded<Quad>(x);
        else
            for (long j = 0; j < known; ++j) z[j] = x[j];
        if (centered) z -= from;
        if (weighted) z *= root[r];
        store(panel, z);
        sum += weighted ? z * root[r] : z;
    }
    store(sums, loaded<WideQuad>(sums) + __builtin_convertvector(sum, WideQuad));
}

template <class T, bool centered, bool weighted>
void pack(TallRows<T> X, const T* origin, const T* root, T* panels, double* sums) {
    for (long row = 0; row < X.count; row += rows_per_visit) {
        const long rows = smaller(rows_per_visit, X.count - row);
        for (long j = 0; j < X.columns; j += thin)
            pack_quad<T, centered, weighted>(X.data + row * X.step + j, X.step, rows, smaller(thin, X.columns - j),
                                             origin + (centered ? j : 0), root + (weighted ? row : 0),
                                             panels + j * panel_rows + row * thin, sums + j);
    }
}

template <class T>
void pack_layer(TallRows<T> X, const T* origin, const T* root, T* panels, double* sums) {
    if (origin && root) return pack<T, true, true>(X, origin, root, panels, sums);
    if (origin) return pack<T, true, false>(X, origin, root, panels, sums);
    if (root) return pack<T, false, true>(X, origin, root, panels, sums);
    pack<T, false, false>(X, origin, root, panels, sums);
}

// Thin panels side by side.
template <class T> void widen_panel(const T* panels, long rows, T* out) {
    using Quad = typename Types<T>::Quad;
    for (long r = 0; r < rows; ++r, panels += thin)
        for (long q = 0; q < wide<T>; q += thin, out += thin) store(out, loaded<Quad>(panels + q * panel_rows));
}

// strip (4 rows of `wide`) += thin panel' wide panel
template <class T> void add_tile(const T* thin_panel, const T* wide_panel, long rows, double* strip) {
    using Vector = typename Types<T>::Vector;
    Vector total[thin][vectors<T>] = {};
    for (long r = 0; r < rows; ++r, thin_panel += thin, wide_panel += wide<T>) {
        const Vector b0 = loaded<Vector>(wide_panel), b1 = loaded<Vector>(wide_panel + lanes<T>),
                     b2 = vectors<T> > 2 ? loaded<Vector>(wide_panel + 2 * lanes<T>) : Vector{};
#pragma GCC unroll 4
        for (long i = 0; i < thin; ++i) {
            total[i][0] += thin_panel[i] * b0;
            total[i][1] += thin_panel[i] * b1;
            if constexpr (vectors<T> > 2) total[i][2] += thin_panel[i] * b2;
        }
    }
    T narrow[thin * wide<T>];
    for (long i = 0; i < thin; ++i)
        for (long v = 0; v < vectors<T>; ++v) store(narrow + i * wide<T> + v * lanes<T>, total[i][v]);
    for (long k = 0; k < thin * wide<T>; ++k) strip[k] += double(narrow[k]);
}

// S[top:bottom, first:first + wide] += strip, as far as there are columns
template <class T>
void add_strip(const double* strip, long top, long bottom, long first, long columns, double* S, long step) {
    const long stop = smaller(wide<T>, columns - first);
    for (long i = top; i < bottom; ++i, strip += wide<T>)
        for (long j = 0; j < stop; ++j) S[i * step + first + j] += strip[j];
}

// The rows of S from those of some thin panels on, from packed rows.
template <class T>
void multiply(T* memory, const Workspace<T>& at, long panel, long count, long columns, double* S, long step,
              long height) {
    T* wide_panel = memory + at.wide_at;
    double* strip = reinterpret_cast<double*>(memory + at.strip_at);
    const long top = panel * thin;
    for (long first = top / wide<T> * wide<T>; first < columns; first += wide<T>) {
        const long stop =
            smaller(smaller(panel + panels_at_once<T>, divide_up(height, thin)), (first + wide<T>) / thin);
        __builtin_memset(strip, 0, (stop - panel) * thin * wide<T> * sizeof(double));
        for (long row = 0; row < count; row += layer_rows) {
            const long rows = smaller(layer_rows, count - row);
            const T* packed = memory + row / layer_rows * at.layer();
            widen_panel(packed + first * panel_rows, rows, wide_panel);
            for (long q = panel; q < stop; ++q)
                add_tile(packed + q * panel_rows * thin, wide_panel, rows, strip + (q - panel) * thin * wide<T>);
        }
        add_strip<T>(strip, top, smaller(stop * thin, height), first, columns, S, step);
    }
}

template <class T>
void add_some(TallRows<T> X, const T* origin, const T* root, double* S, long step, long height, double* sums,
              T* memory) {
    const Workspace<T> at(X.columns);
    double* padded_sums = reinterpret_cast<double*>(memory + at.sums_at);
    __builtin_memset(padded_sums, 0, at.panels * thin * sizeof(double));
    for (long row = 0; row < X.count; row += layer_rows) {
        const TallRows<T> some{X.data + row * X.step, smaller(layer_rows, X.count - row), X.columns, X.step};
        pack_layer(some, origin, root ? root + row : root, memory + row / layer_rows * at.layer(), padded_sums);
    }
    for (long j = 0; j < X.columns; ++j) sums[j] += padded_sums[j];
    for (long panel = 0; panel * thin < height; panel += panels_at_once<T>)
        multiply(memory, at, panel, X.count, X.columns, S, step, height);
}

template <class T>
void add(TallRows<T> X, const T* origin, const T* root, double* S, long step, long height, double* sums, T* memory) {
    const Workspace<T> at(X.columns);
    __builtin_memset(memory, 0, at.wide_at * sizeof(T));  // panels past the last column stay zero
    for (long row = 0; row < X.count; row += rows_at_once) {
        const TallRows<T> some{X.data + row * X.step, smaller(rows_at_once, X.count - row), X.columns, X.step};
        add_some(some, origin, root ? root + row : root, S, step, height, sums, memory);
    }
}

template <class T> constexpr ScatterTable<T> table{workspace_size<T>, add<T>};

}  // namespace

extern const ScatterKernels scatter;
constinit const ScatterKernels scatter{table<float>, table<double>};

}  // namespace mercer::MERCER_LEVEL
