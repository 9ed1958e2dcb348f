// Reading, by RapidJSON in situ: the DOM's strings are the text itself, unescaped in place.
#include "base/json.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::json {
namespace {

// Iterative: a text of brackets only must not use up the stack. ValidateEncoding: else bytes that
// are no UTF-8 pass in strings.
constexpr unsigned kFlags =
    rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

const rapidjson::Value& dom(const void* value) { return *static_cast<const rapidjson::Value*>(value); }

Type type_of(const rapidjson::Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return Type::null;
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return Type::boolean;
    case rapidjson::kObjectType:
      return Type::object;
    case rapidjson::kArrayType:
      return Type::array;
    case rapidjson::kStringType:
      return Type::string;
    case rapidjson::kNumberType:
      break;
  }
  return value.IsDouble() ? Type::real : Type::integer;
}

std::string_view syntax_text(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "something follows the end of the JSON value";
    case rapidjson::kParseErrorValueInvalid:
      return "not a JSON value";
    case rapidjson::kParseErrorObjectMissName:
      return "expected a member's name in double quotes";
    case rapidjson::kParseErrorObjectMissColon:
      return "expected a colon after the member's name";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected a comma or '}'";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected a comma or ']'";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after \\u";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "half a surrogate pair in a string";
    case rapidjson::kParseErrorStringEscapeInvalid:
      return "unknown escape or control character in a string";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "a string without its closing quote";
    case rapidjson::kParseErrorStringInvalidEncoding:
      return "bytes that are not UTF-8 in a string";
    case rapidjson::kParseErrorNumberTooBig:
      return "number too large";
    case rapidjson::kParseErrorNumberMissFraction:
      return "expected a digit after the decimal point";
    case rapidjson::kParseErrorNumberMissExponent:
      return "expected a digit in the exponent";
    default:
      return "not JSON";
  }
}

// Offsets of the line ends of a text. Taken before the parse, which alters the text.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    ends_.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ends_.push_back(at);
  }

  // "3:14", both from 1.
  std::string position(std::size_t offset) const {
    const auto next = std::lower_bound(ends_.begin(), ends_.end(), offset);
    const std::size_t start = next == ends_.begin() ? 0 : *(next - 1) + 1;
    return cat(next - ends_.begin() + 1, ":", offset - start + 1);
  }

 private:
  std::vector<std::size_t> ends_;
};

}  // namespace

std::string_view type_name(Type type) noexcept {
  switch (type) {
    case Type::null:
      return "null";
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "an integer";
    case Type::real:
      return "a fraction";
    case Type::string:
      return "a string";
    case Type::array:
      return "an array";
    case Type::object:
      return "an object";
  }
  return "nothing";
}

struct Document::Impl {
  std::string text;
  std::string name;
  // Chunks of a size that a config.json fits into without the heap having to grow for them.
  rapidjson::MemoryPoolAllocator<> memory{8 * 1024};
  rapidjson::Document dom{&memory};
};

Document::Document(std::string text, std::string name)
    : impl_(std::make_unique<Impl>(std::move(text), std::move(name))) {
  std::string& owned = impl_->text;
  const auto fail = [&](std::string_view position, std::string_view why) {
    throw Error(ErrorKind::invalid_spec, cat(impl_->name, position.empty() ? "" : ":", position, ": ", why));
  };
  if (owned.starts_with("\xEF\xBB\xBF")) fail("1:1", "begins with a byte order mark; JSON is UTF-8 without one");
  if (trim(owned).empty()) fail("", "is empty, expected a JSON value");
  const Lines lines(owned);
  // RapidJSON would take a NUL for the end of the text.
  if (const auto nul = owned.find('\0'); nul != std::string::npos) fail(lines.position(nul), "a NUL byte");

  impl_->dom.ParseInsitu<kFlags>(owned.data());
  if (!impl_->dom.HasParseError()) return;
  const std::size_t offset = impl_->dom.GetErrorOffset();
  const auto code = impl_->dom.GetParseError();
  if (offset >= owned.size() && code != rapidjson::kParseErrorStringMissQuotationMark) {
    fail(lines.position(owned.size()), "the text ends in the middle of a value");
  }
  std::string why(syntax_text(code));
  if (code == rapidjson::kParseErrorStringInvalidEncoding) why += cat(" (at byte ", offset, ")");
  fail(lines.position(offset), why);
}

Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Field Document::root() const { return {&impl_->dom, nullptr, {}, 0, &impl_->name}; }

Type Field::type() const noexcept { return value_ ? type_of(dom(value_)) : Type::null; }

const void* Field::want(Type type) const {
  if (!value_) fail("missing");
  const Type is = type_of(dom(value_));
  if (is != type) fail(cat("must be ", type_name(type), ", not ", type_name(is)));
  return value_;
}

Field Field::member(std::string_view key) const& {
  const auto& object = dom(want(Type::object));
  // From the end: of equal keys the last one counts.
  for (auto it = object.MemberEnd(); it != object.MemberBegin();) {
    --it;
    const std::string_view name(it->name.GetString(), it->name.GetStringLength());
    if (name == key) return {it->value.IsNull() ? nullptr : &it->value, this, name, 0, file_};
  }
  return {nullptr, this, key, 0, file_};
}

Field Field::at(std::size_t index) const& {
  const auto& array = dom(want(Type::array));
  if (index >= array.Size()) throw Error(ErrorKind::bug, "json: index past the end of an array");
  const auto& value = array[static_cast<rapidjson::SizeType>(index)];
  return {value.IsNull() ? nullptr : &value, this, {}, index, file_};
}

std::size_t Field::size() const {
  if (type() == Type::object) return dom(value_).MemberCount();
  return dom(want(Type::array)).Size();
}

const Field& Field::array() const {
  want(Type::array);
  return *this;
}

const Field& Field::object() const {
  want(Type::object);
  return *this;
}

Field Field::member_at(std::size_t index) const& {
  const auto& object = dom(want(Type::object));
  if (index >= object.MemberCount()) throw Error(ErrorKind::bug, "json: index past the end of an object");
  const auto it = object.MemberBegin() + static_cast<std::ptrdiff_t>(index);
  return {
      it->value.IsNull() ? nullptr : &it->value, this, {it->name.GetString(), it->name.GetStringLength()}, 0, file_};
}

bool Field::boolean() const { return dom(want(Type::boolean)).GetBool(); }

std::string_view Field::string_view() const {
  const auto& value = dom(want(Type::string));
  const std::string_view text(value.GetString(), value.GetStringLength());
  if (text.find('\0') != std::string_view::npos) fail("holds the character U+0000");
  return text;
}

std::int64_t Field::int64(std::int64_t min, std::int64_t max) const {
  const auto out_of_range = [&] { fail(cat("must be from ", min, " to ", max)); };
  // What 64 bits cannot hold has become a double.
  if (type() == Type::real && (dom(value_).GetDouble() >= 0x1p63 || dom(value_).GetDouble() <= -0x1p63)) out_of_range();
  const auto& value = dom(want(Type::integer));
  if (!value.IsInt64() || value.GetInt64() < min || value.GetInt64() > max) out_of_range();
  return value.GetInt64();
}

std::uint64_t Field::uint64(std::uint64_t max) const {
  const auto out_of_range = [&] { fail(cat("must be from 0 to ", max)); };
  if (type() == Type::real && (dom(value_).GetDouble() >= 0x1p63 || dom(value_).GetDouble() <= -0x1p63)) out_of_range();
  const auto& value = dom(want(Type::integer));
  if (!value.IsUint64() || value.GetUint64() > max) out_of_range();
  return value.GetUint64();
}

std::vector<std::string> Field::strings() const {
  std::vector<std::string> all;
  const std::size_t count = array().size();
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(at(i).string_view());
  return all;
}

std::string Field::path() const {
  if (!parent_) return {};
  std::string path = parent_->path();
  if (key_.data()) return path.empty() ? std::string(key_) : cat(path, ".", key_);
  return cat(path, "[", index_, "]");
}

void Field::fail(std::string_view text) const {
  const std::string where = path();
  throw Error(ErrorKind::invalid_spec, cat(*file_, ": ", where, where.empty() ? "" : ": ", text));
}

}  // namespace tare::json
