// Checks of arguments, shared by all bindings. They raise ValueError and may be called without the GIL.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace mercer {

template <class Part>
std::string message_part(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>) return std::to_string(part);
    else return std::string(part);
}

// Raises ValueError unless the condition holds. The message is the parts (text and numbers) one after the other.
template <class... Parts>
inline void require(bool holds, const Parts&... parts) {
    if (!holds) [[unlikely]]
        throw std::invalid_argument((std::string() + ... + message_part(parts)));
}

// Whether the n bounds (at least one) do not decrease and lie within 0 .. limit.
template <class T>
bool are_bounds(const T* bounds, size_t n, size_t limit) {
    if (n == 0 || bounds[0] < 0 || static_cast<size_t>(bounds[n - 1]) > limit) return false;
    bool rising = true;
    for (size_t i = 1; i < n; ++i) rising &= bounds[i - 1] <= bounds[i];
    return rising;
}

// The number of entries from one row to the next of a matrix whose rows are contiguous and do not overlap.
template <class Array>
long row_stride(const Array& array, const char* name) {
    const long rows = array.shape(0), columns = array.shape(1);
    require(rows == 0 || ((columns <= 1 || array.stride(1) == 1) && (rows == 1 || array.stride(0) >= columns)), name,
            " must have C-ordered rows; pass numpy.ascontiguousarray of it");
    return rows <= 1 ? columns : static_cast<long>(array.stride(0));
}

}  // namespace mercer
