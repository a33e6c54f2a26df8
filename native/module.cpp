#include <nanobind/nanobind.h>

#include <stdexcept>

#include "dispatch.h"

namespace nb = nanobind;

// One line per family here, and one below.
void bind_bins(nb::module_&);
void bind_hadamard(nb::module_&);
void bind_descent(nb::module_&);
void bind_dual(nb::module_&);
void bind_hashing(nb::module_&);
void bind_lasso(nb::module_&);
void bind_projection(nb::module_&);
void bind_rounds(nb::module_&);
void bind_scatter(nb::module_&);
void bind_sequences(nb::module_&);
void bind_serving(nb::module_&);
void bind_monomials(nb::module_&);
void bind_names(nb::module_&);
void bind_ngrams(nb::module_&);
void bind_omp(nb::module_&);
void bind_outer(nb::module_&);
void bind_sums(nb::module_&);
void bind_thin(nb::module_&);
void bind_trees(nb::module_&);
void bind_trig(nb::module_&);

NB_MODULE(_native, m) {
    m.doc() = "Compiled twins of the NumPy definitions in mercer._numeric.";
    try {
        mercer::chosen_level();
    } catch (const std::runtime_error& error) {
        throw nb::import_error(error.what());
    }
    m.def("isa", [] { return mercer::level_name(mercer::chosen_level()); },
          "The instruction-set level the compiled core runs on.");
    bind_bins(m);
    bind_hadamard(m);
    bind_descent(m);
    bind_dual(m);
    bind_hashing(m);
    bind_lasso(m);
    bind_projection(m);
    bind_rounds(m);
    bind_scatter(m);
    bind_sequences(m);
    bind_serving(m);
    bind_monomials(m);
    bind_names(m);
    bind_ngrams(m);
    bind_omp(m);
    bind_outer(m);
    bind_sums(m);
    bind_thin(m);
    bind_trees(m);
    bind_trig(m);
}
