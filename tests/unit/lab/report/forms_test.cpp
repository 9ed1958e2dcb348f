// The other forms of the report: details, Markdown, CSV, HTML.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/report/report.hpp"

namespace tare::lab {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// bare, A/A, one that costs 10 %, one that couldn't start; names and warnings that try to break out.
Dataset dataset(const std::string& name = "x<b>|,\"y\"") {
  Dataset data;
  data.experiment.seed = 5;
  data.experiment.rounds = 2;
  data.experiment.places = {{"bare", Role::reference, PlaceKind::bare, {}, 0},
                            {"A/A", Role::control, PlaceKind::bare, {}, 0},
                            {name, Role::subject, PlaceKind::bare, {}, 0},
                            {"gone", Role::subject, PlaceKind::bare, {}, 0}};
  data.experiment.workloads = {{"spawn", "fork & wait", {}, 1000}};
  data.absences = {{3, -1, "no such thing"}};
  data.machine = R"({"kernel":"6.1","cpu":{"model":"A CPU"}})";
  data.version = "1";
  data.warnings = {"<script>alert(1)</script>"};
  data.launches = 14;
  for (int launch = 0; launch < 14; ++launch) {
    for (int round = 0; round < 2; ++round) {
      for (int place = 0; place < 3; ++place) {
        const double wobble = 0.002 * ((launch * 5 + place * 3) % 7 - 3);
        Sample s{launch, round, 0, place, 0, 1000, std::llround(1e8 * std::exp((place == 2 ? 0.1 : 0) + wobble))};
        s.cpu_ns = 2'000'000;
        s.faults = 1500;
        s.peak_bytes = 3 << 20;
        data.samples.push_back(s);
      }
    }
  }
  return data;
}

TEST(Details, SayWhatIsKnown) {
  const Dataset data = dataset();
  const std::string text = details_text(data, analyse(data));
  EXPECT_TRUE(has(text, "\nspawn\n")) << text;
  EXPECT_TRUE(has(text, "2.00 us")) << text;   // CPU
  EXPECT_TRUE(has(text, "  1.500 ")) << text;  // faults
  EXPECT_TRUE(has(text, "3.0 MiB")) << text;
  EXPECT_TRUE(has(text, "  ?  ")) << text;  // instructions
  EXPECT_FALSE(has(text, "gone"));
}

TEST(Csv, IsOneLineACellAndNamesAreQuoted) {
  const std::string text = csv_report(group({dataset()}));
  EXPECT_EQ(times(text, "\r\n"), 4u) << text;
  EXPECT_TRUE(has(text, ",\"x<b>|,\"\"y\"\"\",,no,not known,costs,14,")) << text;
  EXPECT_TRUE(has(text, ",A/A,,yes,not known,no cost above the margin,14,")) << text;
  EXPECT_TRUE(has(text, ",gone,,no,not known,not weighed,0,")) << text;
  // Each line has as many fields as the first: commas outside of quotes.
  std::size_t expected = 0;
  for (std::size_t at = 0, end = 0; (end = text.find("\r\n", at)) != std::string::npos; at = end + 2) {
    std::size_t commas = 0;
    bool quoted = false;
    for (std::size_t i = at; i < end; ++i) {
      quoted = quoted != (text[i] == '"');
      commas += !quoted && text[i] == ',';
    }
    if (expected == 0) expected = commas;
    EXPECT_EQ(commas, expected) << text.substr(at, end - at);
  }
  EXPECT_EQ(expected, 19u);
}

TEST(Markdown, NamesCannotBreakTheTable) {
  const std::string text = markdown_report(group({dataset()}));
  EXPECT_TRUE(has(text, "| x\\<b\\>\\|,\"y\" | costs 10.")) << text;
  EXPECT_TRUE(has(text, "| A/A | bare against bare: no cost above 2.0 %")) << text;
  EXPECT_TRUE(has(text, "| gone | not weighed: no such thing | 0 |\n")) << text;
  EXPECT_TRUE(has(text, "\n**\\<script\\>alert(1)\\</script\\>**\n")) << text;
  EXPECT_FALSE(has(text, "## Across"));
}

TEST(Markdown, TheBillIsATable) {
  Dataset data = dataset("container");
  data.experiment.bill = true;
  data.experiment.places[2].kind = PlaceKind::container;
  data.experiment.places.push_back({"item", Role::subject, PlaceKind::bare, {}, 0});
  data.experiment.places[4].bill = true;
  const std::vector<Sample> before = data.samples;
  for (Sample s : before) {
    if (s.place != 1) continue;
    s.place = 4;
    data.samples.push_back(s);
  }
  const std::string text = markdown_report(group({data}));
  EXPECT_TRUE(has(text, "### The bill of spawn")) << text;
  for (const char* row : {"\n| item | ", "\n| sum | ", "\n| container | +10", "\n| unexplained | "}) {
    EXPECT_TRUE(has(text, row)) << row << text;
  }
}

TEST(Markdown, OtherKernelsAreComparedAndCalledUnpaired) {
  Dataset other = dataset("x");
  other.machine = R"({"kernel":"6.2","cpu":{"model":"A CPU"}})";
  for (Sample& s : other.samples) s.wall_ns = s.wall_ns * 13 / 10;
  const std::string text = markdown_report(group({dataset("x"), other}));
  EXPECT_TRUE(has(text, "Not paired")) << text;
  EXPECT_TRUE(has(text, "| spawn | bare | +30.0 % (")) << text;
  EXPECT_EQ(times(csv_report(group({dataset("x"), other})), "\r\n"), 7u);
}

TEST(Html, StandsByItselfAndNamesAreText) {
  const std::string page = html_report(group({dataset()}));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* never : {"<script", "http", "src=", "href=", "url(", "<b>|"})
    EXPECT_FALSE(has(page, never)) << never;
  EXPECT_TRUE(has(page, "x&lt;b&gt;|,&quot;y&quot;")) << page;
  EXPECT_TRUE(has(page, "fork &amp; wait"));
  EXPECT_EQ(times(page, "<svg"), 2u);  // two cells that were measured
  EXPECT_EQ(times(page, "</svg>"), 2u);
  EXPECT_EQ(times(page, "<table>"), times(page, "</table>"));
  EXPECT_EQ(times(page, "class=\"family\""), 2u);
  EXPECT_TRUE(has(page, "costs 10."));
}

TEST(Html, WhatCostsMoreStandsFurtherRight) {
  const std::string page = html_report(group({dataset()}));
  const auto x = [&](std::size_t from) {
    const auto at = page.find("cx=\"", from);
    return std::pair{std::stod(page.substr(at + 4)), at + 4};
  };
  const auto [aa, next] = x(0);
  const auto [costs, end] = x(next);
  EXPECT_LT(aa + 100, costs);
  EXPECT_LT(costs, 360);
  EXPECT_GT(aa, 0);
}

TEST(Forms, SameDataSameBytesAndNothingIsFine) {
  EXPECT_EQ(html_report(group({dataset()})), html_report(group({dataset()})));
  EXPECT_EQ(csv_report(group({dataset()})), csv_report(group({dataset()})));
  EXPECT_EQ(markdown_report(group({dataset()})), markdown_report(group({dataset()})));
  Dataset none = dataset();
  none.samples.clear();
  none.launches = 0;
  EXPECT_FALSE(has(html_report(group({none})), "nan"));
  EXPECT_FALSE(has(markdown_report(group({none})), "nan"));
  EXPECT_FALSE(has(csv_report(group({none})), "nan"));
  EXPECT_FALSE(has(csv_report(group({none})), "?"));
  EXPECT_TRUE(has(markdown_report(group({none})), "nothing measured"));
}

}  // namespace
}  // namespace tare::lab
