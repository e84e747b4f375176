#include "tara/base/text.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tara {
namespace {

// Takes a no-break space (U+00A0, U+202F) from the front of the text, if any.
bool ConsumeNoBreakSpace(absl::string_view* text) {
  return absl::ConsumePrefix(text, "\xC2\xA0") ||
         absl::ConsumePrefix(text, "\xE2\x80\xAF");
}

template <typename Number, typename Parser>
bool ParseDecimalBy(Parser parse, absl::string_view text, Number* number) {
  text = absl::StripAsciiWhitespace(text);
  const bool decimal =
      text.find_first_not_of("0123456789+-.eE") == absl::string_view::npos;
  Number parsed;
  if (!decimal || !parse(text, &parsed)) return false;
  *number = parsed;
  return true;
}

// Returns the size of the character that the text begins with; 0 if the bytes
// are not UTF-8 (RFC 3629). REQUIRES: the text is not empty.
size_t CharacterSize(absl::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, surrogates, beyond U+10FFFF.
  const bool wrong =
      (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : size;
}

// Whether a character is one of the control characters of ASCII and Latin-1.
bool IsControl(absl::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

// Returns "\x1b\x07" for the bytes.
std::string Escaped(absl::string_view bytes) {
  std::string escaped;
  for (const char byte : bytes) {
    absl::StrAppend(&escaped, "\\x",
                    absl::BytesToHexString(absl::string_view(&byte, 1)));
  }
  return escaped;
}

}  // namespace

std::string PlainText(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  std::string plain;
  plain.reserve(text.size());
  char quote = 0;  // the open quote; 0: none. Quotes end at line ends.
  while (!text.empty()) {
    if (quote == 0 && ConsumeNoBreakSpace(&text)) {
      plain += ' ';
      continue;
    }
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '\r' && (text.empty() || text[0] == '\n')) continue;
    plain += c;
    if (c == '\n') {
      quote = 0;
    } else if (quote == 0) {
      if (c == '"' || c == '\'') quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && !text.empty() && text[0] != '\n') {
      plain += text[0];
      text.remove_prefix(1);
    }
  }
  return plain;
}

bool ParseDecimal(absl::string_view text, float* number) {
  return ParseDecimalBy(absl::SimpleAtof, text, number);
}

bool ParseDecimal(absl::string_view text, double* number) {
  return ParseDecimalBy(absl::SimpleAtod, text, number);
}

absl::StatusOr<std::vector<OptionText>> ParseOptionList(
    absl::Span<const absl::string_view> options) {
  std::vector<OptionText> list;
  for (const absl::string_view option : options) {
    const absl::string_view text = absl::StripAsciiWhitespace(option);
    const size_t equals = text.find('=');
    OptionText parsed = {
        .text = text,
        .name = absl::StripTrailingAsciiWhitespace(text.substr(0, equals)),
        .value = "",
        .has_value = equals != absl::string_view::npos};
    if (parsed.has_value) {
      parsed.value = absl::StripLeadingAsciiWhitespace(text.substr(equals + 1));
    }
    if (absl::c_any_of(list, [&parsed](const OptionText& before) {
          return before.name == parsed.name;
        })) {
      return absl::InvalidArgumentError(absl::StrCat(
          Shown(parsed.name), " is given twice; expected it once"));
    }
    list.push_back(parsed);
  }
  return list;
}

absl::StatusOr<std::vector<OptionText>> ParseOptionList(
    absl::string_view text) {
  const std::vector<absl::string_view> options = absl::StrSplit(text, ',');
  return ParseOptionList(options);
}

std::string Printable(absl::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const absl::string_view character =
        text.substr(0, std::max<size_t>(size, 1));
    if (size > 0 && !IsControl(character)) {
      absl::StrAppend(&printable, character);
    } else {
      absl::StrAppend(&printable, Escaped(character));
    }
    text.remove_prefix(character.size());
  }
  return printable;
}

std::string PrintableAscii(absl::string_view text) {
  std::string printable;
  for (const char& c : text) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      printable += c;
    } else {
      absl::StrAppend(&printable, Escaped(absl::string_view(&c, 1)));
    }
  }
  return printable;
}

std::string Shown(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return Printable(text);
  // Not within a character.
  size_t end = max_bytes;
  for (size_t back = 0; back < 3 && end > 0; ++back) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80) break;
    --end;
  }
  return absl::StrCat(Printable(text.substr(0, end)), "...");
}

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    absl::StrAppend(&valid, size > 0 ? text.substr(0, size) : "\xEF\xBF\xBD");
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

}  // namespace tara
