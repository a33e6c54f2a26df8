// Vectors at the width of the level being compiled, and what loads and stores them: for kernel files only.
// Arithmetic and comparisons come from the vector extension of GCC and Clang.
#pragma once

#include "common/vector_width.h"

namespace mercer::MERCER_LEVEL {
namespace {

typedef float F32 __attribute__((vector_size(vector_bytes)));
typedef double F64 __attribute__((vector_size(vector_bytes)));
typedef int I32 __attribute__((vector_size(vector_bytes)));
typedef long long I64 __attribute__((vector_size(vector_bytes)));
typedef float F32Anywhere __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
typedef double F64Anywhere __attribute__((vector_size(vector_bytes), aligned(8), may_alias));

template <class T> struct Of;
template <> struct Of<float> {
    using Vector = F32;
    using Anywhere = F32Anywhere;
    using Bits = I32;
};
template <> struct Of<double> {
    using Vector = F64;
    using Anywhere = F64Anywhere;
    using Bits = I64;
};
template <class T> using Vector = typename Of<T>::Vector;

template <class T> constexpr int lanes = vector_bytes / sizeof(T);

template <class T> inline Vector<T> load(const T* from) {
    return *reinterpret_cast<const typename Of<T>::Anywhere*>(from);
}
template <class T> inline void store(T* to, Vector<T> value) {
    *reinterpret_cast<typename Of<T>::Anywhere*>(to) = value;
}
template <class T> inline Vector<T> all(T value) { return value - Vector<T>{}; }

// Two vectors side by side: the width of a panel of a product, and what one single-precision vector becomes in double.
template <class T> struct Pair {
    Vector<T> low, high;
};

}  // namespace
}  // namespace mercer::MERCER_LEVEL
