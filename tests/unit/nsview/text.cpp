// What reaches a terminal or a JSON file, whatever a process is called.
#include "nsview/text.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::nsview {
namespace {

TEST(Visible, EscapesWhatActs) {
  EXPECT_EQ(visible("plain text"), "plain text");
  EXPECT_EQ(visible("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(visible("a\x1B[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(visible("\xC2\x9B"
                    "2J"),
            "\\xc2\\x9b2J");                              // CSI as one character
  EXPECT_EQ(visible("\xE2\x80\xAE"), "\\xe2\\x80\\xae");  // right to left from here
  EXPECT_EQ(visible("\xFF\xC0\x80\xED\xA0\x80"), "\\xff\\xc0\\x80\\xed\\xa0\\x80");
  EXPECT_EQ(visible("\\x1b"), "\\\\x1b");  // not to be taken for an escape
}

TEST(JsonString, IsValidAndKeepsWhatIsText) {
  EXPECT_EQ(json_string("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(json_string("\xFF\x1B"), "\"\xEF\xBF\xBD\\u001b\"");
  EXPECT_EQ(json_string("\xC2\x9B"), "\"\\u009b\"");
}

TEST(JsonString, OfAnyBytesCanBeRead) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(1 + random() % 255);
    const json::Document document(json_string(bytes), "x");
    EXPECT_NO_THROW(document.root().string());
    for (const char c : visible(bytes)) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

}  // namespace
}  // namespace tare::nsview
