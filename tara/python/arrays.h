#ifndef TARA_PYTHON_ARRAYS_H_
#define TARA_PYTHON_ARRAYS_H_

// What crosses between Python and C++: statuses as exceptions, NumPy memory as
// spans. No copies.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tara/python/arguments.h"
#include "tara/python/gil.h"

namespace tara::python {

// Returns a class of tara._types.
inline pybind11::object Type(const char* name) {
  pybind11::object type;
  OrWaitForEver(
      [&] { type = pybind11::module_::import("tara._types").attr(name); });
  return type;
}

// Returns a new object of a class of tara._types.
template <typename... Values>
pybind11::object New(const char* name, const Values&... values) {
  return Call(Type(name), values...);
}

// Raises what a status means in Python. Needs the GIL.
inline void ThrowIfError(const absl::Status& status) {
  if (status.ok()) return;
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      throw pybind11::value_error(message);
    case absl::StatusCode::kNotFound:
      PyErr_SetString(PyExc_FileNotFoundError, message.c_str());
      break;
    case absl::StatusCode::kDataLoss:
      PyErr_SetString(Type("DataLoss").ptr(), message.c_str());
      break;
    default:
      throw std::runtime_error(message);
  }
  throw pybind11::error_already_set();
}

template <typename T>
T ValueOrThrow(absl::StatusOr<T> value) {
  ThrowIfError(value.status());
  return *std::move(value);
}

using Shape = std::vector<pybind11::ssize_t>;

// Returns `out`, or a new array where it is None, as memory to write to: of
// exactly the shape, C-contiguous. ValueError, naming what was expected,
// otherwise.
template <typename T>
pybind11::array_t<T> OutputArray(const pybind11::object& out,
                                 const Shape& shape) {
  if (out.is_none()) return pybind11::array_t<T>(shape);
  using Exact = pybind11::array_t<T, pybind11::array::c_style>;
  if (Exact::check_(out)) {
    auto array = pybind11::reinterpret_borrow<pybind11::array_t<T>>(out);
    if (std::equal(shape.begin(), shape.end(), array.shape(),
                   array.shape() + array.ndim()) &&
        array.writeable()) {
      return array;
    }
  }
  ThrowValueError(
      "out", out,
      absl::StrCat("a writable, C-contiguous array of ",
                   std::string(pybind11::str(pybind11::dtype::of<T>())),
                   " and shape [", absl::StrJoin(shape, ", "), "]"));
}

// Returns a new array of the values.
template <typename T>
pybind11::array_t<T> ArrayOf(const std::vector<T>& values) {
  auto array = OutputArray<T>(pybind11::none(),
                              {static_cast<pybind11::ssize_t>(values.size())});
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

template <typename T>
absl::Span<T> SpanOf(pybind11::array_t<T>& array) {
  return absl::MakeSpan(array.mutable_data(),
                        static_cast<size_t>(array.size()));
}

}  // namespace tara::python

#endif  // TARA_PYTHON_ARRAYS_H_
