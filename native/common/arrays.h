// Array types of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mercer {

namespace nb = nanobind;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;  // in any memory order
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Raises ValueError with the message unless the condition holds.
inline void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}
inline void require(bool holds, const std::string& message) { require(holds, message.c_str()); }

// Hands the vector's memory to NumPy.
template <class T>
nb::ndarray<nb::numpy, T> owned_array(std::vector<T>&& values, const std::vector<size_t>& shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

}  // namespace mercer
