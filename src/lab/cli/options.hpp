// tare-weigh's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/model/model.hpp"

namespace tare::lab {

struct Options {
  Experiment experiment;
  bool help = false;
  bool version = false;
  bool dry_run = false;
  bool seed_given = false;
  bool evidence = true;
  std::string samples;  // -o; "" = the default place
  bool details = false;
  // Where the report goes in each form that is asked for; "-" = standard output, in place of the text.
  struct Form {
    std::string name;  // json, markdown, csv or html
    std::string file;
  };
  std::vector<Form> forms;
  std::vector<std::string> analyse;  // "analyse FILE..."
  std::string go_on;                 // --continue FILE
  double fail_above = 0;             // log units; 0: never
};

// Throws usage.
Options parse_options(const std::vector<std::string>& args);
std::string help_text();

// "90", "90s", "5m", "1h", "500ms" -> ns; throws usage.
std::int64_t parse_duration(const std::string& text);

}  // namespace tare::lab
