// The hot loops on sequences, one table per instruction-set level.
#pragma once

#include <cstdint>

#include "common/dispatch.h"
#include "common/interrupts.h"

namespace mercer {

// Texts compared with one text at a time.
constexpr long subsequence_lanes = 8;

struct SequencesTable {
    // The gapped subsequence kernel of `text` with 8 others of at most `m` letters, interleaved and padded with -1.
    // `similarity` has a row of `letters` numbers for each letter, or is null: 1 for equal letters, else 0. `workspace`
    // holds 8 (length (m + 1) + m) doubles.
    void (*subsequences)(const int32_t* text, long n, const int64_t* others, long m, long length, double decay,
                         const double* similarity, long letters, double* workspace, double* result,
                         InterruptCheck& interrupt);
};

MERCER_DECLARE_TABLE(SequencesTable, sequences)

}  // namespace mercer
