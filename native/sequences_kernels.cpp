// See sequences.h. Compiled once per instruction-set level; no std:: templates here.
#include "sequences.h"

namespace mercer {
namespace MERCER_LEVEL {

namespace {

constexpr long lanes = subsequence_lanes;
// The compiler splits these into registers of the level.
typedef double Pack __attribute__((vector_size(lanes * sizeof(double)), aligned(8)));
typedef int64_t Mask __attribute__((vector_size(lanes * sizeof(int64_t)), aligned(8)));

inline Pack masked(Pack value, Mask mask) { return (Pack)((Mask)value & mask); }

void subsequences(const int32_t* text, long n, const int64_t* others, long m, long length, double decay, double* room,
                  double* result) {
    const Mask* letters = (const Mask*)others;
    Pack* ways = (Pack*)room;  // (length, m + 1): what ends before or at each letter of the others
    Mask* same = (Mask*)(ways + length * (m + 1));
    const Pack zero = {};
    const Pack one = zero + 1.0;
    for (long j = 0; j < length * (m + 1); ++j) ways[j] = j <= m ? one : zero;
    const double square = decay * decay;
    Pack total = zero;
    for (long a = 0; a < n; ++a) {
        const int64_t letter = text[a];
        const Pack* last = ways + (length - 1) * (m + 1);
        Pack sum = zero;
        for (long j = 0; j < m; ++j) {
            same[j] = letters[j] == letter;
            sum += masked(last[j], same[j]);
        }
        total += square * sum;
        for (long i = length - 1; i > 0; --i) {  // downward: level i reads level i - 1 as it was
            const Pack* below = ways + (i - 1) * (m + 1);
            Pack* level = ways + i * (m + 1);
            Pack found = zero;
            for (long j = 0; j < m; ++j) {
                found = decay * found + square * masked(below[j], same[j]);
                level[j + 1] = decay * level[j + 1] + found;
            }
        }
    }
    *(Pack*)result = total;
}

}  // namespace

extern const SequencesTable sequences = {subsequences};

}  // namespace MERCER_LEVEL
}  // namespace mercer
