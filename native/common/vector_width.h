// The width of the vector registers at the level being compiled: for kernel files only.
#pragma once

namespace mercer::MERCER_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr long vector_bytes = 64;
#elif defined(__AVX__)
constexpr long vector_bytes = 32;
#else
constexpr long vector_bytes = 16;
#endif

}  // namespace
}  // namespace mercer::MERCER_LEVEL
