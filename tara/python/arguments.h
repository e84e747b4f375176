#ifndef TARA_PYTHON_ARGUMENTS_H_
#define TARA_PYTHON_ARGUMENTS_H_

// What crosses between Python and C++: arguments, statuses as exceptions, NumPy
// memory as spans, without copies. The type of an argument has its name, so
// that a wrong one raises a TypeError or ValueError which names the argument,
// the value and what was expected, in place of a signature.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/text.h"
#include "tara/python/workers.h"

namespace tara::python {

// A name as a template's argument.
template <size_t n>
struct Name {
  constexpr Name(const char (&given)[n]) {  // NOLINT: from a literal
    std::copy_n(given, n, text);
  }
  char text[n];
};

// Returns how messages show a value: as Python does, but not at any length; an
// array by type and shape.
inline std::string Shown(pybind11::handle value) {
  namespace py = pybind11;
  if (py::isinstance<py::array>(value)) {
    const auto array = py::reinterpret_borrow<py::array>(value);
    const absl::Span<const py::ssize_t> shape(
        array.shape(), static_cast<size_t>(array.ndim()));
    return absl::StrCat("an array of ",
                        std::string(py::str(py::object(array.dtype()))),
                        " and shape [", absl::StrJoin(shape, ", "), "]");
  }
  try {
    constexpr py::ssize_t kMost = 100;
    const py::str text = py::repr(value);
    if (py::len(text) <= static_cast<size_t>(kMost)) return text;
    const py::object begin = text[py::slice(0, kMost, 1)];
    return absl::StrCat(std::string(py::str(begin)), "...");
  } catch (const py::error_already_set&) {  // a repr that fails
    return absl::StrCat("a ", Py_TYPE(value.ptr())->tp_name);
  }
}

[[noreturn]] inline void ThrowTypeError(absl::string_view name,
                                        pybind11::handle given,
                                        absl::string_view expected) {
  throw pybind11::type_error(
      absl::StrCat(name, ": ", Shown(given), "; expected ", expected));
}

[[noreturn]] inline void ThrowValueError(absl::string_view name,
                                         pybind11::handle given,
                                         absl::string_view expected) {
  throw pybind11::value_error(
      absl::StrCat(name, ": ", Shown(given), "; expected ", expected));
}

// Returns the argument as an integer from `least` to `most`.
template <std::integral T>
T IntegerOf(absl::string_view name, pybind11::handle given, T least, T most) {
  const auto index = pybind11::reinterpret_steal<pybind11::object>(
      PyNumber_Index(given.ptr()));
  if (!index) {
    PyErr_Clear();
    ThrowTypeError(name, given, "an integer");
  }
  const pybind11::int_ low(least), high(most);
  if (index >= low && index <= high) return index.cast<T>();
  const bool has_end = most != std::numeric_limits<T>::max() || index > high;
  ThrowValueError(name, index,
                  has_end ? absl::StrCat(least, " to ", most)
                          : absl::StrCat(least, " or more"));
}

// Returns "name=value,..." of a dict, with true and false for bools.
inline std::string OptionsText(absl::string_view name, pybind11::dict given) {
  std::string text;
  for (const auto& [key, value] : given) {
    const std::string option =
        PyUnicode_Check(key.ptr()) != 0 ? std::string(pybind11::str(key)) : "";
    const bool is_bool = PyBool_Check(value.ptr()) != 0;
    const bool is_number = PyNumber_Check(value.ptr()) != 0;
    std::string shown = pybind11::str(value);
    if (is_bool) shown = value.ptr() == Py_True ? "true" : "false";
    if (option.empty() || option.find_first_of(",=\n") != std::string::npos ||
        (!is_number && PyUnicode_Check(value.ptr()) == 0) ||
        shown.find_first_of(",=\n") != std::string::npos) {
      ThrowTypeError(name, given, "names with numbers, bools or texts");
    }
    absl::StrAppend(&text, text.empty() ? "" : ",", option, "=", shown);
  }
  return text;
}

// Returns the argument as UTF-8. Options may be a dict.
inline std::string TextOf(absl::string_view name, pybind11::handle given) {
  if ((name == "options" || name == "rules") &&
      PyDict_Check(given.ptr()) != 0) {
    return OptionsText(name,
                       pybind11::reinterpret_borrow<pybind11::dict>(given));
  }
  if (PyUnicode_Check(given.ptr()) == 0) ThrowTypeError(name, given, "a text");
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (text == nullptr) {  // half of a character
    PyErr_Clear();
    ThrowValueError(name, given, "a text");
  }
  std::string value(text, static_cast<size_t>(size));
  if (value.find('\0') != std::string::npos) {
    ThrowValueError(name, given, "a text without NUL characters");
  }
  return value;
}

inline std::string PathOf(absl::string_view name, pybind11::handle given) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(given.ptr(), &bytes) == 0) {
    const bool is_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    const bool is_code = PyErr_ExceptionMatches(PyExc_UnicodeError) != 0;
    PyErr_Clear();
    if (is_type) ThrowTypeError(name, given, "a path");
    ThrowValueError(name, given,
                    is_code ? "a path" : "a path without NUL characters");
  }
  return pybind11::reinterpret_steal<pybind11::bytes>(bytes);
}

inline std::string BytesOf(absl::string_view name, pybind11::handle given) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(given.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    ThrowTypeError(name, given, "bytes");
  }
  std::string value(static_cast<const char*>(buffer.buf),
                    static_cast<size_t>(buffer.len));
  PyBuffer_Release(&buffer);
  return value;
}

inline bool TruthOf(absl::string_view name, pybind11::handle given) {
  pybind11::detail::make_caster<bool> caster;
  if (!caster.load(given, /*convert=*/true)) {
    ThrowTypeError(name, given, "True or False");
  }
  return pybind11::detail::cast_op<bool>(caster);
}

// Returns the options of "name=value, ...", without the spaces around names and
// values. ValueError for one that is given twice or has no "=".
inline std::vector<std::pair<std::string, std::string>> SplitOptions(
    const std::string& text) {
  const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(text);
  if (!list.ok()) {
    throw pybind11::value_error(
        absl::StrCat("options: ", list.status().message()));
  }
  std::vector<std::pair<std::string, std::string>> options;
  for (const OptionText& option : *list) {
    if (option.text.empty()) continue;
    if (!option.has_value) {
      throw pybind11::value_error(
          absl::StrCat("options: '", option.text, "'; expected name=value"));
    }
    options.emplace_back(option.name, option.value);
  }
  return options;
}

// An argument: its name, how it is read, and its type as Python calls it.
template <Name name, auto read, Name python_type>
struct Argument {
  using Value = decltype(read(absl::string_view(), pybind11::handle()));
  Value value;
  operator const Value&() const { return value; }  // NOLINT
};

// An integer from `least` to `most`, or what has __index__.
template <std::integral T, T least, T most>
T ReadInteger(absl::string_view name, pybind11::handle given) {
  return IntegerOf<T>(name, given, least, most);
}
template <Name name, std::integral T = int64_t,
          T least = std::numeric_limits<T>::min(),
          T most = std::numeric_limits<T>::max()>
using Integer = Argument<name, ReadInteger<T, least, most>, "int">;
template <Name name>
using Threads = Integer<name, int, 1, 256>;
using Seed = Integer<"seed", uint64_t>;

// A str without NUL characters, which would end it elsewhere.
template <Name name>
using Text = Argument<name, TextOf, "str">;
// A path as open() takes it.
template <Name name>
using Path = Argument<name, PathOf, "os.PathLike">;
// Bytes, or an object with a buffer of bytes.
template <Name name>
using ByteString = Argument<name, BytesOf, "bytes">;
// A bool, or an object that is true or false like a number.
template <Name name>
using Truth = Argument<name, TruthOf, "bool">;

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
  return pybind11::array_t<T>(static_cast<pybind11::ssize_t>(values.size()),
                              values.data());
}

template <typename T>
absl::Span<T> SpanOf(pybind11::array_t<T>& array) {
  return absl::MakeSpan(array.mutable_data(),
                        static_cast<size_t>(array.size()));
}

// A new array of n rows, filled with a value, and its memory.
template <typename T>
struct Column {
  Column(size_t n, Shape row, T value) {
    row.insert(row.begin(), static_cast<pybind11::ssize_t>(n));
    array = pybind11::array_t<T>(row);
    values = SpanOf(array);
    std::fill(values.begin(), values.end(), value);
  }
  pybind11::array_t<T> array;
  absl::Span<T> values;
};

// Classes of Python's, marked by `using PythonClass = void`.
template <typename T>
concept PythonClass = requires { typename T::PythonClass; };

}  // namespace tara::python

namespace pybind11::detail {

template <tara::python::Name argument, auto read, tara::python::Name python>
struct type_caster<tara::python::Argument<argument, read, python>> {
  using Type = tara::python::Argument<argument, read, python>;
  PYBIND11_TYPE_CASTER(Type, const_name(python.text));
  bool load(handle given, bool) {
    value = {read(argument.text, given)};
    return true;
  }
};

// Where pybind11 would use memory that nothing was written to, it is a
// TypeError: an object that __new__ made and __init__ did not.
template <tara::python::PythonClass T>
class type_caster<T> : public type_caster_base<T> {
 public:
  bool load(handle given, bool convert) {
    const type_info* const type = this->typeinfo;
    if (type != nullptr && PyObject_TypeCheck(given.ptr(), type->type) != 0 &&
        reinterpret_cast<instance*>(given.ptr())
                ->get_value_and_holder(type)
                .value_ptr() == nullptr) {
      throw type_error(absl::StrCat("a ", Py_TYPE(given.ptr())->tp_name,
                                    " without contents; expected one that "
                                    "__init__ has made, not only __new__"));
    }
    return type_caster_base<T>::load(given, convert);
  }
};

}  // namespace pybind11::detail

#endif  // TARA_PYTHON_ARGUMENTS_H_
