// Block-hash projections of dense and CSR rows.
//
// Entries are taken in chunks: all keys are hashed at once, then for each block of outputs all places and signs, loops
// that the compiler turns into vectors; only the additions are one by one. A place of block i is only ever
// added to from block i, so every output sums its entries in the order they are stored, in any chunks and blocks of rows.
#include "projection.h"

namespace mercer::MERCER_LEVEL {
namespace {

constexpr long chunk = 128;
constexpr long dense_rows = 32;  // share the places of a chunk; their sums stay in the second-level cache
constexpr uint64_t golden_gamma = 0x9E3779B97F4A7C15u;

template <class T> struct WordOf;
template <> struct WordOf<float> { using Type = uint32_t; };
template <> struct WordOf<double> { using Type = uint64_t; };
template <class T> using Word = typename WordOf<T>::Type;

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
inline uint64_t hash_key(uint64_t key, uint64_t mixed_seed) { return mix((key ^ mixed_seed) + golden_gamma); }
inline long smaller(long a, long b) { return a < b ? a : b; }

// Where the upper half of a 64-bit word lies when the word is read as two of 32 bits.
constexpr int upper = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 0;
typedef uint32_t Half __attribute__((may_alias));

template <class T> struct Chunk {
    long count;
    uint64_t keys[chunk], words[chunk];
    uint32_t places[2 * chunk];  // of both halves of each word
    Word<T> twice[2 * chunk], flipped[2 * chunk];  // each value twice, and with its signs

    void take(const T* x, long step, T scale) {
        for (long k = 0; k < count; ++k) {
            const T value = x[k * step] * scale;
            Word<T> bits;
            __builtin_memcpy(&bits, &value, sizeof(T));
            twice[2 * k] = twice[2 * k + 1] = bits;
        }
    }
    // One word serves two blocks: its upper half the even one, its lower half the odd one.
    void find_places(const BlockHash<T>& map, long pair) {
        const uint64_t seed = map.block_seeds[pair], width = map.width;
        for (long k = 0; k < count; ++k) words[k] = hash_key(keys[k], seed);
        const Half* halves = reinterpret_cast<const Half*>(words);
        for (long e = 0; e < 2 * count; ++e) places[e] = uint32_t((halves[e] * width) >> 32);
    }
    void add_to(const BlockHash<T>& map, T* out, bool both) {
        const Half* halves = reinterpret_cast<const Half*>(words);
        const uint32_t mask = uint32_t(map.sign_mask);
        for (long e = 0; e < 2 * count; ++e) flipped[e] = twice[e] ^ (Word<T>(halves[e] & mask) << (8 * sizeof(T) - 1));
        T* next = out + map.width;
        if (both) {
#pragma GCC unroll 4
            for (long k = 0; k < count; ++k) {
                add(out, 2 * k + upper);
                add(next, 2 * k + 1 - upper);
            }
        } else {
            for (long k = 0; k < count; ++k) add(out, 2 * k + upper);
        }
    }
    void add(T* out, long e) const {
        T value;
        __builtin_memcpy(&value, flipped + e, sizeof(T));
        out[places[e]] += value;
    }
};

template <class T> inline void clear(const BlockHash<T>& map, T* out) {
    __builtin_memset(out, 0, sizeof(T) * map.width * map.nonzeros);
}

template <class T, class Index>
void csr(const BlockHash<T>& map, CsrRows<T, Index> rows, T* out, long out_step) {
    Chunk<T> part;
    for (long row = 0; row < rows.count; ++row, out += out_step) {
        clear(map, out);
        const long end = rows.indptr[row + 1];
        for (long first = rows.indptr[row]; first < end; first += chunk) {
            part.count = smaller(chunk, end - first);
            const Index* columns = rows.indices + first;
            const T* x = rows.data + first;
            for (long k = 0; k < part.count; ++k) part.keys[k] = hash_key(uint64_t(int64_t(columns[k])), map.seed);
            part.take(x, 1, map.scale);
            for (long block = 0; block < map.nonzeros; block += 2) {
                part.find_places(map, block / 2);
                part.add_to(map, out + block * map.width, block + 1 < map.nonzeros);
            }
        }
    }
}

template <class T>
void dense(const BlockHash<T>& map, DenseRows<T> rows, T* out, long out_step) {
    Chunk<T> part;
    for (long top = 0; top < rows.count; top += dense_rows) {
        const long bottom = smaller(rows.count, top + dense_rows);
        for (long row = top; row < bottom; ++row) clear(map, out + row * out_step);
        for (long first = 0; first < rows.columns; first += chunk) {
            part.count = smaller(chunk, rows.columns - first);
            for (long k = 0; k < part.count; ++k) part.keys[k] = hash_key(first + k, map.seed);
            for (long block = 0; block < map.nonzeros; block += 2) {
                part.find_places(map, block / 2);
                for (long row = top; row < bottom; ++row) {
                    part.take(rows.data + row * rows.row_step + first * rows.column_step, rows.column_step, map.scale);
                    part.add_to(map, out + row * out_step + block * map.width, block + 1 < map.nonzeros);
                }
            }
        }
    }
}

template <class T> constexpr ProjectionTable<T> table{dense<T>, csr<T, int32_t>, csr<T, int64_t>};

}  // namespace

// Constant initialization: nothing of a level may run before it is chosen.
extern const ProjectionKernels projection;
constinit const ProjectionKernels projection{table<float>, table<double>};

}  // namespace mercer::MERCER_LEVEL
