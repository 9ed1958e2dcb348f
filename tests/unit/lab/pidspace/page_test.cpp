#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/pidspace/model.hpp"

namespace tare::lab {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Ten launches in which everything takes 10 ns with "none", and what `times` says in the others.
template <class Times>
std::string samples(const Times& times) {
  std::string out = pidspace_head(7, "9.9", "then", R"({"kernel":"6.18","cpu":{"model":"Some CPU","online":2}})");
  for (int launch = 0; launch < 10; ++launch) {
    out += cat(R"({"record":"real","launch":)", launch, R"(,"spawn":1000,"execl":1000,"shell":1000,"ps":-1})", "\n");
    for (const Scene& scene : pidspace_scenes()) {
      for (const std::string& design : pidspace_designs()) {
        for (const Operation& operation : pidspace_operations()) {
          const double ns =
              (design == "none" ? 10 : times(design, std::string(operation.name), scene)) * (1 + launch * 0.001);
          if (ns <= 0) continue;
          out += cat(R"({"record":"sample","launch":)", launch, R"(,"level":)", scene.level, R"(,"live":)", scene.live,
                     R"(,"design":")", design, R"(","operation":")", operation.name, R"(","ns":[)", std::to_string(ns),
                     ",", std::to_string(ns * 50), ",", std::to_string(ns), "]}\n");
        }
      }
    }
    out += cat(R"({"record":"launch_end","launch":)", launch, "}\n");
  }
  return out;
}

TEST(PidspacePage, FindsWhatIsInTheDataAndSaysWhatIsNot) {
  const std::string page =
      pidspace_page(parse_pidspace(samples([](const std::string& design, const std::string& operation, Scene scene) {
        if (design == "flat" && scene.level > 1) return -1.0;
        if (operation == "alloc") return 10.0 + 2.0 * scene.level;
        if (operation == "root" && design == "nested, loop") return scene.level > 2 ? 30.0 : 5.0;
        return 10.0;
      })));
  EXPECT_TRUE(has(page,
                  "at one level (the number from the first namespace, level 0): factor 0.50 (0.50 to 0.50): **does not "
                  "hold: the loop is faster**"));
  EXPECT_TRUE(has(page, "and at 33 (level 32): factor 3.00 (3.00 to 3.00): **holds: the hash is faster**"));
  EXPECT_TRUE(
      has(page, "Depth costs (nested, loop, allocating and freeing): 2.0 ns a level (2.0 to 2.0): **it does**"));
  EXPECT_TRUE(has(
      page, "4 and one of 5 read alike (own number, level 1): factor 1.00 (1.00 to 1.00): **no difference is shown**"));
  EXPECT_TRUE(has(page,
                  "(flat, a spawn in the first namespace, as a share of the whole): 0.000 % (0.000 to 0.000): **less "
                  "than 0.1 %**"));
  EXPECT_TRUE(has(page, "| flat | 10.0 | 12.1 | n/a |")) << page;
}

TEST(PidspacePage, OfTooFewLaunchesNothingIsClaimed) {
  std::string text = samples([](const std::string&, const std::string&, Scene) { return 20.0; });
  text = text.substr(0, text.find(R"({"record":"launch_end","launch":3})"));
  const PidspaceData data = parse_pidspace(text);
  EXPECT_EQ(data.launches, 3);
  const std::string page = pidspace_page(data);
  EXPECT_FALSE(has(page, "**does not hold"));
  EXPECT_FALSE(has(page, "**holds"));
  EXPECT_TRUE(has(page, "**too few launches to tell**"));
}

TEST(PidspacePage, IsTheSameForTheSameData) {
  const std::string text = samples([](const std::string&, const std::string&, Scene) { return 20.0; });
  EXPECT_EQ(pidspace_page(parse_pidspace(text)), pidspace_page(parse_pidspace(text)));
  EXPECT_EQ(nlohmann::json::parse(pidspace_json(parse_pidspace(text))).at("launches"), 10);
}

TEST(PidspaceFile, ALaunchThatWasCutOffDoesNotCount) {
  const std::string text = samples([](const std::string&, const std::string&, Scene) { return 20.0; });
  EXPECT_EQ(parse_pidspace(text.substr(0, text.size() - 20)).launches, 9);
  EXPECT_THROW((void)parse_pidspace("{}\n"), Error);
  EXPECT_THROW((void)parse_pidspace(text.substr(0, text.find('\n') + 1) + "{\"record\":\"other\"}\n"), Error);
}

// The figures in the code are those that tests/lab/pidspace-trace found.
TEST(PidspaceMixes, AreThoseOfTheTracedRun) {
  std::ifstream file(TARE_SOURCE_DIR "/docs/results/pidspace/trace.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto traced = nlohmann::json::parse(text.str());
  for (const Mix& mix : pidspace_mixes()) {
    std::map<std::string, int> calls;
    for (const Call& call : mix.calls) calls[call.name] = call.times;
    calls.erase("list /proc, an entry");  // one for each process shown, by what the unit is
    EXPECT_EQ(traced.at(std::string_view(mix.name) == "ps" ? "ps, a process" : mix.name).get<decltype(calls)>(), calls)
        << mix.name;
  }
}

}  // namespace
}  // namespace tare::lab
