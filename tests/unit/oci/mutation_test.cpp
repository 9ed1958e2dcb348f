// Random damage to valid configs: each is read or refused with tare::Error, nothing else; and what
// was read comes back the same after writing. Run under the sanitizers, this is the parser's fuzzing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/text.hpp"
#include "config.hpp"
#include "full_config.hpp"
#include "oci/write.hpp"

namespace tare::oci::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return end == 0 ? 0 : random() % end; }

// Damage to the text: most of it is no JSON any more.
void damage_bytes(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  const std::size_t length = below(random, 12);
  switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(below(random, text.size()), length));
      break;
    case 3:
      text.resize(at);
      break;
    default:
      text.insert(at, 1, "{}[],:\"\\0-e\n\xff"[below(random, 13)]);
  }
}

nlohmann::json odd_value(Random& random) {
  switch (random() % 12) {
    case 0:
      return nullptr;
    case 1:
      return -1;
    case 2:
      return 4294967295U;
    case 3:
      return UINT64_MAX;
    case 4:
      return 1e30;
    case 5:
      return "";
    case 6:
      return "/";
    case 7:
      return std::string("a\0b", 3);
    case 8:
      return nlohmann::json::array();
    case 9:
      return nlohmann::json::object();
    case 10:
      return true;
    default:
      return nlohmann::json::array({nullptr, "x", 1});
  }
}

// Damage to the structure: it stays JSON, so that the rules behind the parser are met.
void damage_value(nlohmann::json& value, Random& random) {
  if (value.is_structured() && !value.empty() && random() % 8 != 0) {
    auto it = value.begin();
    std::advance(it, static_cast<long>(below(random, value.size())));
    if (random() % 12 == 0) {
      value.erase(it);
    } else {
      damage_value(*it, random);
    }
  } else if (value.is_string() && random() % 2 == 0) {
    auto text = value.get<std::string>();
    text.insert(below(random, text.size() + 1), 1, "/.=-a0,\n"[below(random, 8)]);
    value = text;
  } else {
    value = odd_value(random);
  }
}

struct Counts {
  int read = 0, refused = 0;
};

void try_text(const std::string& text, Counts& counts) {
  Warnings warnings;
  try {
    const Spec spec = parse_spec(text, "config.json", warnings);
    Warnings of_copy;
    const Spec copy = parse_spec(write_spec(spec, 0), "written", of_copy);
    ASSERT_EQ(copy, spec) << text;
    validate(spec, warnings);
    ++counts.read;
  } catch (const Error& error) {
    ASSERT_TRUE(error.kind() == ErrorKind::invalid_spec || error.kind() == ErrorKind::unsupported) << error.text();
    ASSERT_FALSE(error.text().empty());
    ++counts.refused;
  }
}

// TARE_FUZZ_ROUNDS asks for more; TARE_FUZZ_SEED repeats a run.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? parse_number<std::uint64_t>(text).value() : otherwise;
}

TEST(Mutation, TextIsReadOrRefused) {
  const auto seed = from_environment("TARE_FUZZ_SEED", 1);
  Random random(seed);
  Counts counts;
  for (std::uint64_t i = from_environment("TARE_FUZZ_ROUNDS", 4000); i > 0; --i) {
    std::string text = i % 2 == 0 ? kConfig : kFullConfig;
    for (auto n = 1 + random() % 3; n > 0; --n) damage_bytes(text, random);
    ASSERT_NO_FATAL_FAILURE(try_text(text, counts)) << "seed " << seed;
  }
  EXPECT_GT(counts.read, 0);
  EXPECT_GT(counts.refused, 0);
}

TEST(Mutation, ValuesAreReadOrRefused) {
  const auto seed = from_environment("TARE_FUZZ_SEED", 2);
  Random random(seed);
  Counts counts;
  const auto configs = {nlohmann::json::parse(kConfig), nlohmann::json::parse(kFullConfig)};
  for (std::uint64_t i = from_environment("TARE_FUZZ_ROUNDS", 4000); i > 0; --i) {
    auto config = *(configs.begin() + static_cast<long>(i % 2));
    for (auto n = 1 + random() % 3; n > 0; --n) damage_value(config, random);
    ASSERT_NO_FATAL_FAILURE(try_text(config.dump(), counts)) << "seed " << seed;
  }
  EXPECT_GT(counts.read, 0);
  EXPECT_GT(counts.refused, 0);
}

}  // namespace
}  // namespace tare::oci::test
