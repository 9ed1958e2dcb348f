// Reading JSON: what is refused, with which words and where; exact numbers; bytes kept.
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::json {
namespace {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_spec);
    return error.text();
  }
  return "no error";
}

std::string parse_error(std::string text) {
  return error_of([&] { Document(std::move(text), "c.json"); });
}

struct SyntaxCase {
  std::string text;
  const char* error;
};

TEST(JsonSyntax, EachFaultIsNamedWithItsPlace) {
  const SyntaxCase cases[] = {
      {"", "c.json: is empty, expected a JSON value"},
      {" \n\t ", "c.json: is empty, expected a JSON value"},
      {"\xEF\xBB\xBF{}", "c.json:1:1: begins with a byte order mark; JSON is UTF-8 without one"},
      {"{", "c.json:1:2: the text ends in the middle of a value"},
      {"{\n  \"a\": [1,\n", "c.json:3:1: the text ends in the middle of a value"},
      {"{\"a\": 1}\n}", "c.json:2:1: something follows the end of the JSON value"},
      {"{} {}", "c.json:1:4: something follows the end of the JSON value"},
      {"{\n  \"a\": 1\n  \"b\": 2\n}", "c.json:3:3: expected a comma or '}'"},
      {"[1 2]", "c.json:1:4: expected a comma or ']'"},
      {"{\"a\" 1}", "c.json:1:6: expected a colon after the member's name"},
      {"{a: 1}", "c.json:1:2: expected a member's name in double quotes"},
      {"{\"a\": 1,}", "c.json:1:9: expected a member's name in double quotes"},
      {"[1,]", "c.json:1:4: not a JSON value"},
      {"[nul]", "c.json:1:5: not a JSON value"},
      {"['a']", "c.json:1:2: not a JSON value"},
      {"[// comment\n1]", "c.json:1:2: not a JSON value"},
      {"[NaN]", "c.json:1:2: not a JSON value"},
      {"[1.]", "c.json:1:4: expected a digit after the decimal point"},
      {"[1e]", "c.json:1:4: expected a digit in the exponent"},
      {"[\"\\q\"]", "c.json:1:3: unknown escape or control character in a string"},
      {"[\"\\ud800\"]", "c.json:1:3: half a surrogate pair in a string"},
      {"[\"\\u12g4\"]", "c.json:1:3: expected four hexadecimal digits after \\u"},
      {"{\n \"a\": \"bc", "c.json:2:10: a string without its closing quote"},
      {std::string("[1,\n\0]", 6), "c.json:2:1: a NUL byte"},
      {std::string("{}\0{}", 5), "c.json:1:3: a NUL byte"},
      {std::string("[\"a\0b\"]", 7), "c.json:1:4: a NUL byte"},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_error(c.text), c.error) << quoted(c.text);
}

// The buffer is altered while it is parsed: escaped line ends become real ones before the fault.
TEST(JsonSyntax, PlaceIsThatOfTheOriginalText) {
  EXPECT_EQ(parse_error("[\"a\\n\\n\\nb\",\n \"\\u00e9\" x]"), "c.json:2:11: expected a comma or ']'");
}

TEST(JsonSyntax, RawControlCharactersInStringsAreRefused) {
  EXPECT_NE(parse_error("[\"a\nb\"]"), "no error");
  EXPECT_NE(parse_error("[\"a\x01 b\"]"), "no error");
}

TEST(JsonSyntax, BytesThatAreNotUtf8AreRefusedWithTheirOffset) {
  EXPECT_EQ(parse_error("[\n\"a\xff\"]"), "c.json:2:3: bytes that are not UTF-8 in a string (at byte 4)");
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xf8"}) {
    EXPECT_TRUE(parse_error(cat("{\"a\": \"", bad, "\"}")).find("not UTF-8") != std::string::npos) << quoted(bad);
    EXPECT_TRUE(parse_error(cat("{\"", bad, "\": 1}")).find("not UTF-8") != std::string::npos) << quoted(bad);
  }
}

TEST(JsonSyntax, DepthUsesNoStack) {
  EXPECT_NE(parse_error(std::string(2000000, '[')), "no error");
  const Document deep(std::string(1000000, '[') + std::string(1000000, ']'), "c.json");
  EXPECT_EQ(deep.root().type(), Type::array);
}

TEST(JsonValue, NumbersAreExact) {
  const Document doc(R"([18446744073709551615, -9223372036854775808, 9223372036854775807, 0, -0, 4294967296])", "c");
  const Field root = doc.root();
  EXPECT_EQ(root.at(0).uint64(), UINT64_MAX);
  EXPECT_EQ(root.at(1).int64(), INT64_MIN);
  EXPECT_EQ(root.at(2).int64(), INT64_MAX);
  EXPECT_EQ(root.at(2).uint64(), 9223372036854775807U);
  EXPECT_EQ(root.at(3).uint64(), 0U);
  EXPECT_EQ(root.at(4).int64(), 0);
  EXPECT_EQ(error_of([&] { root.at(0).int64(); }), "c: [0]: must be from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(error_of([&] { root.at(1).uint64(); }), "c: [1]: must be from 0 to 18446744073709551615");
  EXPECT_EQ(error_of([&] { root.at(5).uint64(4294967295); }), "c: [5]: must be from 0 to 4294967295");
  EXPECT_EQ(error_of([&] { root.at(5).int64(-1, 7); }), "c: [5]: must be from -1 to 7");
}

TEST(JsonValue, FractionsAndHugeNumbersAreNoIntegers) {
  const Document doc(R"([1.5, 1.0, 1e3, 18446744073709551616, -9223372036854775809, 1e300])", "c");
  const Field root = doc.root();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(error_of([&] { root.at(i).int64(); }), cat("c: [", i, "]: must be an integer, not a fraction"));
    EXPECT_EQ(error_of([&] { root.at(i).uint64(); }), cat("c: [", i, "]: must be an integer, not a fraction"));
  }
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(error_of([&] { root.at(i).uint64(9); }), cat("c: [", i, "]: must be from 0 to 9"));
    EXPECT_EQ(error_of([&] { root.at(i).int64(-9, 9); }), cat("c: [", i, "]: must be from -9 to 9"));
  }
}

TEST(JsonValue, OfEqualKeysTheLastCounts) {
  const Document doc(R"({"a": 1, "b": 2, "a": 3, "n": 1, "n": null})", "c");
  const Field root = doc.root();
  EXPECT_EQ(root.member("a").int64(), 3);
  EXPECT_EQ(root.size(), 5U);
  EXPECT_EQ(root.member_at(0).int64(), 1);
  EXPECT_EQ(root.member_at(2).key(), "a");
  EXPECT_FALSE(root.member("n").present());
}

TEST(JsonValue, StringsKeepTheirBytes) {
  const Document doc("{\"a\": \"\\u00e9\xc3\xa9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u0061b\": \"x\"}", "c");
  const Field root = doc.root();
  EXPECT_EQ(root.member("a").string(), "\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80\"\\/\b\f\n\r\t");
  EXPECT_EQ(root.member("ab").string(), "x");
}

TEST(JsonValue, NulInAStringIsRefused) {
  const Document doc(R"({"a": "x\u0000y"})", "c");
  const Field root = doc.root();
  EXPECT_EQ(error_of([&] { root.member("a").string(); }), "c: a: holds the character U+0000");
}

TEST(JsonField, ErrorsNameThePath) {
  const Document doc(R"({"process": {"rlimits": [{}, {"type": 5}], "args": ["a", 7], "x": null}})", "c.json");
  const Field root = doc.root();
  const Field process = root.member("process");
  const Field rlimits = process.member("rlimits");
  const Field second = rlimits.at(1);
  EXPECT_EQ(error_of([&] { second.member("type").string(); }),
            "c.json: process.rlimits[1].type: must be a string, not an integer");
  EXPECT_EQ(error_of([&] { second.member("soft").uint64(); }), "c.json: process.rlimits[1].soft: missing");
  EXPECT_EQ(error_of([&] { process.member("args").strings(); }),
            "c.json: process.args[1]: must be a string, not an integer");
  EXPECT_EQ(error_of([&] { process.member("x").boolean(); }), "c.json: process.x: missing");
  EXPECT_EQ(error_of([&] { rlimits.member("x"); }), "c.json: process.rlimits: must be an object, not an array");
  EXPECT_EQ(error_of([&] { process.at(0); }), "c.json: process: must be an array, not an object");
  EXPECT_EQ(error_of([&] { second.member("type").boolean(); }),
            "c.json: process.rlimits[1].type: must be true or false, not an integer");
  EXPECT_EQ(error_of([&] { root.fail("wrong"); }), "c.json: wrong");
}

TEST(JsonField, TheTopMustBeWhatIsAskedFor) {
  const Document doc("[]", "c.json");
  const Field root = doc.root();
  EXPECT_EQ(error_of([&] { root.member("a"); }), "c.json: must be an object, not an array");
}

TEST(JsonDocument, CanBeMoved) {
  Document first(R"({"a": "short"})", "c");
  const Document second = std::move(first);
  const Field root = second.root();
  EXPECT_EQ(root.member("a").string(), "short");
}

void write_into(Writer& out, const Field& field) {
  switch (field.type()) {
    case Type::null:
      out.null();
      return;
    case Type::boolean:
      out.boolean(field.boolean());
      return;
    case Type::integer:
      out.number(field.int64());
      return;
    case Type::real:
      out.raw("0");
      return;
    case Type::string:
      out.string(field.string_view());
      return;
    case Type::array:
      out.begin_array();
      for (std::size_t i = 0; i < field.size(); ++i) write_into(out, field.at(i));
      out.end_array();
      return;
    case Type::object:
      out.begin_object();
      for (std::size_t i = 0; i < field.size(); ++i) {
        const Field member = field.member_at(i);
        out.key(member.key());
        write_into(out, member);
      }
      out.end_object();
  }
}

std::string written(const Field& field, int indent) {
  Writer out(indent);
  write_into(out, field);
  return out.take();
}

TEST(JsonWriter, Compact) {
  Writer out;
  out.begin_object().key("a").begin_array().number(1).number(UINT64_MAX).number(INT64_MIN).end_array();
  out.key("b").begin_object().end_object().key("c").begin_array().end_array().key("d").null();
  out.key("e").boolean(true).key("f").strings({"x", "y"}).key("g").raw("[1]").end_object();
  EXPECT_EQ(
      out.take(),
      R"({"a":[1,18446744073709551615,-9223372036854775808],"b":{},"c":[],"d":null,"e":true,"f":["x","y"],"g":[1]})");
}

TEST(JsonWriter, Pretty) {
  const Document doc(R"({"a":[1,{"b":2},[]],"c":{},"d":"x"})", "c");
  EXPECT_EQ(written(doc.root(), 2),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    },\n    []\n  ],\n  \"c\": {},\n  \"d\": \"x\"\n}");
  Writer tabs(1, true);
  tabs.begin_array().number(1).end_array();
  EXPECT_EQ(tabs.take(), "[\n\t1\n]");
}

TEST(JsonWriter, EscapesWhatMustBeAndNothingElse) {
  EXPECT_EQ(escaped("a\"\\\b\f\n\r\t\x01\x1f/\x7f\xc3\xa9<>&"),
            "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f\xc3\xa9<>&\"");
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "\"a\\u0000b\"");
  EXPECT_EQ(escaped("\xff\xfe"), "\"\xff\xfe\"");
  EXPECT_EQ(escaped(""), "\"\"");
}

TEST(JsonWriter, MisuseIsABug) {
  const auto kind = [](auto&& f) {
    try {
      Writer out;
      f(out);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::bug;
    }
    return false;
  };
  EXPECT_TRUE(kind([](Writer& w) { w.begin_object().number(1); }));
  EXPECT_TRUE(kind([](Writer& w) { w.begin_array().end_object(); }));
  EXPECT_TRUE(kind([](Writer& w) { w.key("a"); }));
  EXPECT_TRUE(kind([](Writer& w) { w.begin_object().key("a").end_object(); }));
  EXPECT_TRUE(kind([](Writer& w) { w.begin_object().key("a").key("b"); }));
  EXPECT_TRUE(kind([](Writer& w) { w.number(1).number(2); }));
  EXPECT_TRUE(kind([](Writer& w) { w.begin_array().take(); }));
  EXPECT_TRUE(kind([](Writer& w) { w.end_array(); }));
}

// What was written is read as the same, for any bytes that are UTF-8.
TEST(JsonRoundTrip, RandomStrings) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const auto length = random() % 20;
    for (unsigned i = 0; i < length; ++i) {
      const std::string_view pieces[] = {"\"", "\\", "\n", "\x01", "\x7f", "é", "€", "😀", "a", "/", "u0041", "\t"};
      text += pieces[random() % std::size(pieces)];
    }
    Writer out(static_cast<int>(random() % 3));
    out.begin_object().key(text).string(text).end_object();
    const Document doc(out.take(), "c");
    const Field root = doc.root();
    ASSERT_EQ(root.member(text).string(), text) << quoted(text);
  }
}

}  // namespace
}  // namespace tare::json
