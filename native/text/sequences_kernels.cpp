// See sequences.h. Compiled once per instruction-set level; no std:: templates here.
#include "common/vector_width.h"
#include "text/sequences.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

constexpr long lanes = vector_bytes / long(sizeof(double));
// Registers of the level; several independent ones hide latencies.
constexpr long packs = subsequence_lanes / lanes;
typedef double Pack __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(lanes * sizeof(int64_t)), aligned(8), may_alias));

// The similarity of each letter of the others to this one, times decay^2.
inline void compare(int64_t letter, const Mask* letters, long m, double square, Pack* same) {
    const Pack squares = Pack{} + square;
    for (long j = 0; j < m * packs; ++j) same[j] = (Pack)((Mask)squares & (letters[j] == letter));
}

inline void compare_by_table(const double* similarity, const int64_t* letters, long m, double square, Pack* same) {
    double* out = (double*)same;
    for (long j = 0; j < m * subsequence_lanes; ++j) out[j] = letters[j] < 0 ? 0.0 : square * similarity[letters[j]];
}

// Adds the subsequences that end just before each matching letter.
inline void add_matches(const Pack* same, long m, const Pack* last, Pack* total) {
    for (long j = 0; j < m * packs; j += packs)
        for (long q = 0; q < packs; ++q) total[q] += same[j + q] * last[j + q];
}

// One more letter of the text for the subsequences of one length; `below` are those one letter shorter.
inline void extend(const Pack* __restrict below, Pack* __restrict level, const Pack* __restrict same, long m,
                   double decay) {
    Pack found[packs] = {};
    for (long j = 0; j < m * packs; j += packs)
        for (long q = 0; q < packs; ++q) {
            found[q] = decay * found[q] + same[j + q] * below[j + q];
            level[j + packs + q] = decay * level[j + packs + q] + found[q];
        }
}

void subsequences(const int32_t* text, long n, const int64_t* others, long m, long length, double decay,
                  const double* similarity, long letters, double* workspace, double* result,
                  InterruptCheck& interrupt) {
    const double square = decay * decay;
    Pack* ways = (Pack*)workspace;  // (length, m + 1): subsequences that end at or before each letter of the others
    const long size = packs * (m + 1);
    Pack* same = ways + length * size;
    const Pack zero = {};
    for (long j = 0; j < length * size; ++j) ways[j] = j < size ? zero + 1.0 : zero;
    Pack total[packs] = {};
    for (long a = 0; a < n; ++a) {
        if (similarity) compare_by_table(similarity + text[a] * letters, others, m, square, same);
        else compare(text[a], (const Mask*)others, m, square, same);
        add_matches(same, m, ways + (length - 1) * size, total);
        for (long i = length - 1; i > 0; --i)  // downward: level i reads level i - 1 as it was
            extend(ways + (i - 1) * size, ways + i * size, same, m, decay);
        interrupt(length * size);
    }
    for (long q = 0; q < packs; ++q) ((Pack*)result)[q] = total[q];
}

}  // namespace

extern const SequencesTable sequences = {subsequences};

}  // namespace MERCER_LEVEL
}  // namespace mercer
