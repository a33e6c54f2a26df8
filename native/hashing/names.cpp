// Compiled twins of mercer/_numeric/hashing/names.py: named values of rows as 64-bit keys and numbers.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/arrays.h"
#include "common/splitmix.h"
#include "hashing/blake2b.h"
#include "hashing/text_hash.h"

namespace nb = nanobind;

namespace {

using namespace mercer;

// Cache of the hashes of names. Names of up to 16 bytes are compared by two words that hold all of them; longer ones
// also byte by byte.
class HashCache {
  public:
    explicit HashCache(uint64_t seed) : hash_(seed), slots_(1 << 12) {}

    uint64_t operator()(std::string_view name) {
        Slot wanted = slot_of(name);
        size_t at = slot_index(wanted);
        for (; slots_[at].used; at = (at + 1) & (slots_.size() - 1))
            if (slots_[at].a == wanted.a && slots_[at].b == wanted.b && slots_[at].length == wanted.length &&
                (name.size() <= 16 || name == text_of(slots_[at])))
                return slots_[at].key;
        wanted.key = hash_(name.data(), name.size());
        wanted.start = letters_.size();
        if (name.size() > 16) letters_.append(name);
        slots_[at] = wanted;
        if (++count_ * 2 > slots_.size()) grow();
        return wanted.key;
    }

  private:
    struct Slot {
        uint64_t a = 0, b = 0, key = 0, start = 0;
        uint32_t length = 0;
        bool used = false;
    };

    static uint64_t word_at(const char* p, size_t length) {
        uint64_t word = 0;
        std::memcpy(&word, p, length);
        return word;
    }

    static Slot slot_of(std::string_view name) {
        const char* p = name.data();
        const size_t n = name.size();
        Slot slot;
        slot.length = static_cast<uint32_t>(n);
        slot.used = true;
        if (n <= 8) {
            slot.a = word_at(p, n);
        } else if (n <= 16) {
            slot.a = word_at(p, 8);
            slot.b = word_at(p + n - 8, 8);  // may overlap the first word
        } else {
            for (size_t i = 0; i + 8 < n; i += 8) slot.a = std::rotl((slot.a ^ word_at(p + i, 8)) * odd, 29);
            slot.b = word_at(p + n - 8, 8);
        }
        return slot;
    }

    size_t slot_index(const Slot& slot) const {
        uint64_t sum = (slot.a ^ std::rotl(slot.b * odd, 32) ^ slot.length) * 0x94D049BB133111EBu;
        return (sum ^ (sum >> 32)) & (slots_.size() - 1);
    }

    std::string_view text_of(const Slot& slot) const { return {letters_.data() + slot.start, slot.length}; }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (!slot.used) continue;
            size_t at = slot_index(slot);
            while (slots_[at].used) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    static constexpr uint64_t odd = 0xBF58476D1CE4E5B9u;
    KeyedBlake2b hash_;
    std::vector<Slot> slots_;
    std::string letters_;
    size_t count_ = 0;
};

// The UTF-8 bytes of a str; `buffer` holds them where the object cannot, because it has lone surrogates.
std::string_view utf8_of(PyObject* text, std::string& buffer) {
    Py_ssize_t size = 0;
    if (const char* data = PyUnicode_AsUTF8AndSize(text, &size)) return {data, static_cast<size_t>(size)};
    PyErr_Clear();
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
    if (!bytes.is_valid()) throw nb::python_error();
    buffer.assign(PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr())));
    return buffer;
}

class Entries {
  public:
    Entries(uint64_t seed, nb::handle read, bool are_cells)
        : mixed_seed_(mix(seed)), read_(read), are_cells_(are_cells) {}

    void reserve(nb::list rows) {
        size_t total = 0;
        for (nb::handle row : rows) {
            if (PyDict_CheckExact(row.ptr())) total += static_cast<size_t>(PyDict_Size(row.ptr()));
            if (PyList_CheckExact(row.ptr())) total += static_cast<size_t>(NB_LIST_GET_SIZE(row.ptr()));
        }
        keys.reserve(total);
        values.reserve(total);
        indptr.reserve(rows.size() + 1);
    }

    void add_row(PyObject* row, PyObject* names, size_t number) {
        const size_t before = keys.size();
        if (!add_plain(row, names)) {
            keys.resize(before);
            values.resize(before);
            for (nb::handle entry : read_(nb::handle(row), number)) {
                if (!add(NB_TUPLE_GET_ITEM(entry.ptr(), 0), NB_TUPLE_GET_ITEM(entry.ptr(), 1)))
                    throw nb::type_error("read must give tuples of a name and a finite number.");
            }
        }
        indptr.push_back(static_cast<int64_t>(keys.size()));
    }

    std::vector<uint64_t> keys;
    std::vector<double> values;
    std::vector<int64_t> indptr{0};

  private:
    // Whether the row was of the common kinds; if not, some of its entries may have been added.
    bool add_plain(PyObject* row, PyObject* names) {
        if (PyDict_CheckExact(row)) {
            PyObject *name, *value;
            for (Py_ssize_t at = 0; PyDict_Next(row, &at, &name, &value);)
                if (!add(name, value)) return false;
            return true;
        }
        const bool is_list = PyList_CheckExact(row);
        if (!is_list && !PyTuple_CheckExact(row)) return false;
        const Py_ssize_t n = is_list ? NB_LIST_GET_SIZE(row) : NB_TUPLE_GET_SIZE(row);
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* item = is_list ? NB_LIST_GET_ITEM(row, i) : NB_TUPLE_GET_ITEM(row, i);
            if (!(are_cells_ ? add(NB_LIST_GET_ITEM(names, i), item) : add_item(item))) return false;
        }
        return true;
    }

    bool add_item(PyObject* item) {
        if (PyUnicode_Check(item)) {
            push(utf8_of(item, first_), 1.0);
            return true;
        }
        return PyTuple_CheckExact(item) && NB_TUPLE_GET_SIZE(item) == 2 &&
               add(NB_TUPLE_GET_ITEM(item, 0), NB_TUPLE_GET_ITEM(item, 1));
    }

    bool add(PyObject* name, PyObject* value) {
        if (!PyUnicode_Check(name)) return false;
        if (value == Py_None) return true;
        if (PyUnicode_Check(value)) {
            const std::string_view left = utf8_of(name, first_), right = utf8_of(value, second_);
            joined_.assign(left).append("=").append(right);
            push(joined_, 1.0);
            return true;
        }
        double number;
        if (PyFloat_Check(value)) {
            number = PyFloat_AsDouble(value);
            if (are_cells_ && number != number) return true;  // a missing value in a table of objects
        } else if (PyLong_Check(value)) {
            number = PyLong_AsDouble(value);
            if (number == -1.0 && PyErr_Occurred()) {
                PyErr_Clear();
                return false;
            }
        } else {
            return false;
        }
        if (!std::isfinite(number)) return false;
        if (number != 0) push(utf8_of(name, first_), number);
        return true;
    }

    void push(std::string_view name, double value) {
        keys.push_back(hash_bare_text(name.data(), name.size(), mixed_seed_));
        values.push_back(value);
    }

    uint64_t mixed_seed_;
    nb::handle read_;
    bool are_cells_;
    std::string first_, second_, joined_;
};

nb::tuple hash_entries(nb::list rows, nb::object names, nb::handle seed, nb::handle read) {
    const nb::object low_bits = nb::int_(seed) & nb::int_(UINT64_MAX);
    const bool are_cells = !names.is_none();
    if (are_cells && !nb::isinstance<nb::list>(names)) throw nb::type_error("names must be a list or None.");
    Entries entries(nb::cast<uint64_t>(low_bits), read, are_cells);
    const size_t n = rows.size();
    entries.reserve(rows);
    for (size_t i = 0; i < n; ++i) {
        const nb::object row = nb::borrow(rows[i]);
        const bool fits = !are_cells || (PyList_CheckExact(row.ptr()) && nb::len(row) == nb::len(names));
        require(fits, "a row needs a cell for each name, in a list.");
        entries.add_row(row.ptr(), names.ptr(), i);
    }
    const size_t count = entries.keys.size();
    return nb::make_tuple(owned_array(std::move(entries.keys), {count}),
                          owned_array(std::move(entries.values), {count}),
                          owned_array(std::move(entries.indptr), {n + 1}));
}

nb::ndarray<nb::numpy, uint64_t> hash_utf8(Vector<uint8_t> data, Vector<int64_t> offsets, nb::handle seed) {
    const uint64_t key = nb::cast<uint64_t>(nb::object(nb::int_(seed) & nb::int_(UINT64_MAX)));
    require(offsets.shape(0) != 0, "offsets must have an entry per string and one more.");
    const size_t n = offsets.shape(0) - 1;
    const int64_t* at = offsets.data();
    for (size_t i = 0; i < n; ++i)
        require(at[i] >= 0 && at[i + 1] >= at[i] && at[i + 1] <= static_cast<int64_t>(data.shape(0)),
                "offsets must rise within the data.");
    std::vector<uint64_t> keys(n);
    {
        nb::gil_scoped_release release;
        HashCache cached_hash(key);
        const char* text = reinterpret_cast<const char*>(data.data());
        for (size_t i = 0; i < n; ++i) keys[i] = cached_hash({text + at[i], static_cast<size_t>(at[i + 1] - at[i])});
    }
    return owned_array(std::move(keys), {n});
}

}  // namespace

void bind_names(nb::module_& m) {
    m.def("hash_utf8", &hash_utf8, nb::arg("data"), nb::arg("offsets"), nb::arg("seed") = 0);
    m.def("hash_entries", &hash_entries, nb::arg("rows"), nb::arg("names").none(), nb::arg("seed"), nb::arg("read"));
}
