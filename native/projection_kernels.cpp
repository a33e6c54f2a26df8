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

template <class T> struct Chunk {
    long count;
    uint64_t keys[chunk];
    uint32_t places[chunk];  // 2 * place + sign
    T values[chunk];
    Word<T> flipped[chunk];

    void find_places(const BlockHash<T>& map, long block) {
        const uint64_t seed = map.block_seeds[block], width = map.width, mask = map.sign_mask;
        for (long k = 0; k < count; ++k) {
            const uint64_t h = hash_key(keys[k], seed);
            places[k] = uint32_t(2 * (((h >> 32) * width) >> 32) | (h & mask));
        }
    }
    void add_to(T* out) {
        __builtin_memcpy(flipped, values, sizeof(T) * count);
        for (long k = 0; k < count; ++k) flipped[k] ^= Word<T>(places[k]) << (8 * sizeof(T) - 1);
#pragma GCC unroll 4
        for (long k = 0; k < count; ++k) {
            T value;
            __builtin_memcpy(&value, flipped + k, sizeof(T));
            out[places[k] >> 1] += value;
        }
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
            for (long k = 0; k < part.count; ++k) part.values[k] = x[k] * map.scale;
            for (long block = 0; block < map.nonzeros; ++block) {
                part.find_places(map, block);
                part.add_to(out + block * map.width);
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
            for (long block = 0; block < map.nonzeros; ++block) {
                part.find_places(map, block);
                for (long row = top; row < bottom; ++row) {
                    const T* x = rows.data + row * rows.row_step + first * rows.column_step;
                    for (long k = 0; k < part.count; ++k) part.values[k] = x[k * rows.column_step] * map.scale;
                    part.add_to(out + row * out_step + block * map.width);
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
