#include "base/text.hpp"
#include "manual/manual.hpp"

namespace tare::manual {

namespace {

using cli::Command;
using cli::Option;

// Text as roff shows it to the letter: no line is taken for a request, no dash for a hyphen.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string heading(std::string_view name) {
  std::string title(name);
  for (char& c : title) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return cat(".TH \"", roff(title), "\" \"1\" \"\" \"tare ", TARE_VERSION, "\" \"\"\n");
}

std::string name_section(std::string_view name, std::string_view summary) {
  return cat(heading(name), ".SH NAME\n", roff(name), " \\- ", roff(summary), "\n");
}

// As printed, line by line: the texts are laid out by hand.
std::string verbatim(std::string_view text) { return cat(".nf\n", roff(text), "\n.fi\n"); }

std::string option_entry(const Option& o) {
  std::string out = ".TP\n";
  if (o.letter != 0) out += cat("\\fB\\-", o.letter, "\\fR, ");
  out += cat("\\fB\\-\\-", roff(o.name), "\\fR");
  if (o.value != nullptr) out += cat(" \\fI", roff(o.value), "\\fR");
  return cat(out, "\n", roff(o.help), "\n");
}

std::string options_section(std::string_view title, Options options) {
  if (options.empty()) return "";
  std::string out = cat(".SH ", title, "\n");
  for (const Option& o : options) out += option_entry(o);
  return out;
}

}  // namespace

std::string man_page(Commands commands, Options globals) {
  std::string out = name_section("tare", "OCI container runtime, and a scale that weighs what isolation costs");
  out += ".SH SYNOPSIS\n\\fBtare\\fR [\\fIglobal options\\fR] \\fICOMMAND\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n";
  out += ".SH COMMANDS\n";
  for (const Command* command : commands) {
    out += cat(".TP\n\\fBtare\\-", roff(command->name), "\\fR(1)\n", roff(command->summary), "\n");
  }
  return out + options_section("GLOBAL OPTIONS", globals);
}

std::string man_page(const Command& command) {
  const std::string name = cat("tare-", command.name);
  std::string out = name_section(name, command.summary);
  out += cat(".SH SYNOPSIS\n\\fBtare ", roff(command.name), "\\fR [\\fIoptions\\fR] ", roff(command.words), "\n");
  if (*command.text != '\0') out += cat(".SH DESCRIPTION\n", verbatim(command.text));
  out += options_section("OPTIONS", command.options);
  return out + ".SH SEE ALSO\n.BR tare (1)\n";
}

std::string weigh_page(std::string_view help) {
  const auto first = help.find('\n');
  return cat(name_section("tare-weigh", "what isolation costs on this machine"), ".SH DESCRIPTION\n",
             verbatim(trim(help.substr(first + 1))), ".SH SEE ALSO\n.BR tare (1)\n");
}

}  // namespace tare::manual
