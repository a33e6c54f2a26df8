// Four numbers at a time, widened to double: for kernel files only.
#pragma once

namespace mercer::MERCER_LEVEL {
namespace {

constexpr long lanes = 4;

typedef double Wide __attribute__((vector_size(lanes * sizeof(double))));
template <class T> struct NarrowOf;
template <> struct NarrowOf<float> {
    typedef float Type __attribute__((vector_size(lanes * sizeof(float))));
};
template <> struct NarrowOf<double> {
    using Type = Wide;
};

template <class T> inline Wide widened(const T* x) {
    typename NarrowOf<T>::Type narrow;
    __builtin_memcpy(&narrow, x, sizeof narrow);
    return __builtin_convertvector(narrow, Wide);
}
inline Wide loaded(const double* x) {
    Wide wide;
    __builtin_memcpy(&wide, x, sizeof wide);
    return wide;
}

}  // namespace
}  // namespace mercer::MERCER_LEVEL
