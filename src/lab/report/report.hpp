// Dataset and Analysis -> what a person reads, and the same as JSON. Pure: the same data give the
// same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/stats/analysis.hpp"
#include "lab/stats/pool.hpp"

namespace tare::lab {

// The table: one part for each workload, the A/A line first.
std::string text_report(const Dataset& dataset, const Analysis& analysis);
std::string json_report(const Dataset& dataset, const Analysis& analysis);

// Several machines or kernels: each one's own report, then the same operations across them.
std::string text_report(const std::vector<Group>& groups);
std::string json_report(const std::vector<Group>& groups);

// What an operation takes besides time: CPU, page faults, switches, counters, memory; for --details, below the text.
std::string details_text(const Dataset& dataset, const Analysis& analysis);

// For documents, spreadsheets and browsers; one machine or several. The page stands by itself: no script, no network.
std::string markdown_report(const std::vector<Group>& groups);
std::string csv_report(const std::vector<Group>& groups);
std::string html_report(const std::vector<Group>& groups);

// "3.1 %" and the like: `digits` behind the point, "+" or "-" in front where `sign`.
std::string fixed(double value, int digits, bool sign = false);
// 1234567 -> "1.23 ms": three significant digits, ns to s.
std::string duration(double ns);

}  // namespace tare::lab
