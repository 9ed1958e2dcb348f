// JSON: a document that is read once and walked, and a writer.
//
// For: config.json, process files, the state on disk, answers of `state` and `features`.
// Not for: the laboratory's data files (another library there), changing a document in place.
// Reading: RFC 8259, nothing more lenient. 64-bit integers stay exact, text must be UTF-8, of equal
// keys in one object the last one counts, null stands for an absent member.
// Errors: tare::Error, kind invalid_spec. Syntax: "config.json:3:14: text" (line and column count
// from 1, columns in bytes). Values: "config.json: process.rlimits[1].type: must be a string".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::json {

enum class Type { null, boolean, integer, real, string, array, object };

// What a type is called in messages: "an object".
std::string_view type_name(Type type) noexcept;

// One value of a document, and where it stands there. It views the document (which must outlive it)
// and the field it was reached by (which must outlive the reading): keep it on the stack, hand it
// down by reference. A field may be absent; reading an absent one is the error "missing".
class Field {
 public:
  bool present() const noexcept { return value_ != nullptr; }  // false for null, too
  explicit operator bool() const noexcept { return present(); }
  Type type() const noexcept;  // null where absent

  // Members and elements. Each throws where this field is not an object (array). Not for
  // temporaries: what comes back remembers this field.
  Field member(std::string_view key) const&;  // the last of that name; absent where there is none
  Field at(std::size_t index) const&;         // of an array; index < size()
  Field member_at(std::size_t index) const&;  // of an object, in the file's order, repeated keys too
  Field member(std::string_view key) const&& = delete;
  Field at(std::size_t index) const&& = delete;
  Field member_at(std::size_t index) const&& = delete;
  std::size_t size() const;                               // elements of an array or members of an object
  const Field& array() const;                             // *this; throws where it is no array
  const Field& object() const;                            // *this; throws where it is no object
  std::string_view key() const noexcept { return key_; }  // of a field reached by member or member_at

  // Values. Each throws where the field is absent, of another type or out of range.
  bool boolean() const;
  std::string_view string_view() const;  // refuses the character U+0000, which no C string can hold
  std::string string() const { return std::string(string_view()); }
  std::int64_t int64(std::int64_t min = INT64_MIN, std::int64_t max = INT64_MAX) const;
  std::uint64_t uint64(std::uint64_t max = UINT64_MAX) const;
  std::vector<std::string> strings() const;  // an array of strings

  // "process.rlimits[1].type"; empty for the document itself.
  std::string path() const;
  // Throws "FILE: path: text".
  [[noreturn]] void fail(std::string_view text) const;

 private:
  friend class Document;
  Field(const void* value, const Field* parent, std::string_view key, std::size_t index, const std::string* file)
      : value_(value), parent_(parent), key_(key), index_(index), file_(file) {}
  const void* want(Type type) const;  // the value, if it is of that type; throws else

  const void* value_;
  const Field* parent_;
  std::string_view key_;  // empty data(): reached by index
  std::size_t index_;
  const std::string* file_;
};

class Document {
 public:
  // Parses all of text; name stands in messages ("config.json").
  Document(std::string text, std::string name);
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  Field root() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes JSON text. Commas, colons and line ends come by themselves; calls in a senseless order
// (a value without a key in an object, an end too many) throw kind bug. Strings are escaped where
// JSON asks for it and else pass unchanged, byte for byte, UTF-8 or not.
class Writer {
 public:
  // indent: blanks for each level, each value on a line of its own; 0: all on one line.
  // tab: indent with that many tabs instead.
  explicit Writer(int indent = 0, bool tab = false) : indent_(indent), tab_(tab) {}

  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view key);
  Writer& string(std::string_view value);
  Writer& number(std::int64_t value);
  Writer& number(std::uint64_t value);
  Writer& number(int value) { return number(std::int64_t{value}); }
  Writer& number(std::uint32_t value) { return number(std::uint64_t{value}); }
  Writer& boolean(bool value);
  Writer& null();
  Writer& strings(const std::vector<std::string>& values);  // an array
  // Text that is JSON already; it is not checked or indented.
  Writer& raw(std::string_view json);

  // The text, when every object and array is closed; no line end after it.
  std::string take();

 private:
  void before_value();
  void line();
  void close(char c);

  int indent_;
  bool tab_;
  std::string out_;
  std::string open_;   // '{' or '[' for each level
  bool first_ = true;  // nothing yet in the innermost level
  bool after_key_ = false;
};

// s as a JSON string with its quotes.
std::string escaped(std::string_view s);

}  // namespace tare::json
