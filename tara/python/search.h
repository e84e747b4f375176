#ifndef TARA_PYTHON_SEARCH_H_
#define TARA_PYTHON_SEARCH_H_

#include <pybind11/pybind11.h>

namespace tara::python {

// Searches: tara.search.
void DefineSearch(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_SEARCH_H_
