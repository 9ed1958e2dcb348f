// The sample file of `tare weigh pidspace`: JSON lines, one for each operation of a launch.
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/pidspace/model.hpp"

namespace tare::lab {

using nlohmann::json;

namespace {

constexpr int kPidspaceSchema = 1;

void parse_record(const json& in, PidspaceData& data) {
  const std::string record = in.at("record");
  if (record == "sample") {
    PidspaceSample sample{
        in.at("launch"), {in.at("level"), in.at("live")}, in.at("design"), in.at("operation"), in.at("ns")};
    if (sample.ns.empty()) throw Error(ErrorKind::invalid_spec, "a sample without rounds");
    data.samples.push_back(std::move(sample));
  } else if (record == "real") {
    for (const Mix& mix : pidspace_mixes()) data.real[mix.name].push_back(in.at(mix.name));
  } else if (record == "launch_end") {
    data.launches = in.at("launch").get<int>() + 1;
  } else {
    throw Error(ErrorKind::invalid_spec, cat("no such record: ", tare::quoted(record)));
  }
}

}  // namespace

std::string pidspace_head(std::uint64_t seed, std::string_view version, std::string_view started,
                          std::string_view machine) {
  const nlohmann::ordered_json line{{"record", "pidspace"},
                                    {"schema", kPidspaceSchema},
                                    {"program", "tare-weigh"},
                                    {"version", version},
                                    {"started", started},
                                    {"seed", std::to_string(seed)},
                                    {"machine", nlohmann::ordered_json::parse(machine)}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

PidspaceData parse_pidspace(std::string_view text) {
  PidspaceData data;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    try {
      const json in = json::parse(line);
      if (number > 1) {
        parse_record(in, data);
        continue;
      }
      if (in.at("record") != "pidspace" || in.at("schema") != kPidspaceSchema) {
        throw Error(ErrorKind::invalid_spec, "the first line must be the record \"pidspace\" of schema 1");
      }
      data.version = in.at("version");
      data.started = in.at("started");
      data.machine = in.at("machine").dump();
      data.seed = parse_number<std::uint64_t>(in.at("seed").get<std::string>()).value_or(0);
    } catch (const json::exception& error) {
      if (number > 1 && text.ends_with(line) && !text.ends_with("\n")) break;  // cut off while it was written
      throw Error(ErrorKind::invalid_spec, cat("line ", number, ": ", error.what()));
    }
  }
  std::erase_if(data.samples, [&](const PidspaceSample& s) { return s.launch >= data.launches; });
  for (auto& [name, values] : data.real) values.resize(static_cast<std::size_t>(data.launches), -1);
  return data;
}

}  // namespace tare::lab
