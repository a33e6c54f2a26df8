// See sequences.h. Compiled once per instruction-set level; no std:: templates here.
#include "sequences.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

#if defined(__AVX512F__)
constexpr long lanes = 8;
#elif defined(__AVX__)
constexpr long lanes = 4;
#else
constexpr long lanes = 2;
#endif
// Registers of the level; several go side by side, so that one need not wait for the other.
constexpr long packs = subsequence_lanes / lanes;
typedef double Pack __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(lanes * sizeof(int64_t)), aligned(8), may_alias));

inline Pack masked(Pack value, Mask mask) { return (Pack)((Mask)value & mask); }

// Marks where the others have this letter, and sums what ends just before there.
inline void add_matches(int64_t letter, const Mask* letters, long m, const Pack* last, Mask* same, double square,
                        Pack* total) {
    Pack sum[packs] = {};
    for (long j = 0; j < m * packs; j += packs)
        for (long q = 0; q < packs; ++q) {
            const Mask found = letters[j + q] == letter;
            same[j + q] = found;
            sum[q] += masked(last[j + q], found);
        }
    for (long q = 0; q < packs; ++q) total[q] += square * sum[q];
}

// One more letter of the text for the subsequences of one length; `below` are those one letter shorter.
inline void extend(const Pack* __restrict below, Pack* __restrict level, const Mask* __restrict same, long m,
                   double decay, double square) {
    Pack found[packs] = {};
    for (long j = 0; j < m * packs; j += packs)
        for (long q = 0; q < packs; ++q) {
            found[q] = decay * found[q] + square * masked(below[j + q], same[j + q]);
            level[j + packs + q] = decay * level[j + packs + q] + found[q];
        }
}

void subsequences(const int32_t* text, long n, const int64_t* others, long m, long length, double decay, double* room,
                  double* result) {
    const Mask* letters = (const Mask*)others;
    Pack* ways = (Pack*)room;  // (length, m + 1): what ends at or before each letter of the others
    const long size = packs * (m + 1);
    Mask* same = (Mask*)(ways + length * size);
    const Pack zero = {};
    for (long j = 0; j < length * size; ++j) ways[j] = j < size ? zero + 1.0 : zero;
    Pack total[packs] = {};
    for (long a = 0; a < n; ++a) {
        add_matches(text[a], letters, m, ways + (length - 1) * size, same, decay * decay, total);
        for (long i = length - 1; i > 0; --i)  // downward: level i reads level i - 1 as it was
            extend(ways + (i - 1) * size, ways + i * size, same, m, decay, decay * decay);
    }
    for (long q = 0; q < packs; ++q) ((Pack*)result)[q] = total[q];
}

}  // namespace

extern const SequencesTable sequences = {subsequences};

}  // namespace MERCER_LEVEL
}  // namespace mercer
