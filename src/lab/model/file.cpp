#include "lab/model/file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

using nlohmann::json;

namespace {

constexpr const char* kRoles[] = {"reference", "control", "subject"};
constexpr const char* kKinds[] = {"bare", "namespaces", "layer", "container", "nested", "siblings", "foreign"};

template <class Enum, std::size_t N>
Enum from_name(const std::string& name, const char* const (&names)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  throw Error(ErrorKind::invalid_spec, cat("unknown word ", tare::quoted(name)));
}

// Ordered, so that the same data give the same bytes in the order a person wants to read.
std::string line(const nlohmann::ordered_json& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

template <class T>
int index_of(const std::vector<T>& all, const std::string& name) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<int>(i);
  }
  throw Error(ErrorKind::invalid_spec, cat("the first line names no ", tare::quoted(name)));
}

template <class T>
const std::string& name_of(const std::vector<T>& all, int index) {
  return all.at(static_cast<std::size_t>(index)).name;
}

Sample parse_sample(const Experiment& experiment, const json& in) {
  Sample s;
  s.launch = in.at("launch");
  s.round = in.at("round");
  s.slot = in.at("slot");
  s.place = index_of(experiment.places, in.at("place"));
  s.workload = index_of(experiment.workloads, in.at("workload"));
  s.count = in.at("count");
  s.wall_ns = in.at("wall_ns");
  s.cpu_ns = in.at("cpu_ns");
  s.faults = in.at("faults");
  s.voluntary = in.at("voluntary_switches");
  s.involuntary = in.at("involuntary_switches");
  s.at_ns = in.at("at_ns");
  s.cgroup_cpu_ns = in.at("cgroup_cpu_ns");
  s.peak_bytes = in.at("peak_bytes");
  s.instructions = in.at("instructions");
  s.cycles = in.at("cycles");
  if (s.count <= 0 || s.wall_ns <= 0) throw Error(ErrorKind::invalid_spec, "count and wall_ns must be above 0");
  return s;
}

void parse_record(const json& in, Dataset& data) {
  const std::string record = in.at("record");
  if (record == "sample") {
    data.samples.push_back(parse_sample(data.experiment, in));
  } else if (record == "absence") {
    const std::string workload = in.at("workload");
    data.absences.push_back({index_of(data.experiment.places, in.at("place")),
                             workload.empty() ? -1 : index_of(data.experiment.workloads, workload), in.at("reason")});
  } else if (record == "evidence") {
    data.evidence.push_back({index_of(data.experiment.workloads, in.at("workload")), in.at("layer"), in.at("kind"),
                             in.at("rate"), in.at("conclusive"), in.at("what")});
  } else if (record == "worker") {
    const auto seen = in.find("seen");
    if (seen == in.end()) return;
    data.speculation.push_back({index_of(data.experiment.places, in.at("place")),
                                seen->value("Speculation_Store_Bypass", ""),
                                seen->value("SpeculationIndirectBranch", "")});
  } else if (record == "conditions") {
    data.conditions.push_back({in.at("launch"), in.at("load"), in.at("processes"), in.at("cpu_pressure_us"),
                               in.at("memory_pressure_us"), in.at("io_pressure_us"), in.at("grace_ns"),
                               in.at("stolen_ticks"), in.at("all_ticks"), in.at("at_ns")});
  } else if (record == "warning") {
    data.warnings.push_back(in.at("text"));
  } else if (record == "launch_end") {
    data.launches = in.at("launch").get<int>() + 1;
  } else if (record == "continued") {
    const int from = in.at("launch");
    std::erase_if(data.samples, [&](const Sample& s) { return s.launch >= from; });
    std::erase_if(data.conditions, [&](const Conditions& c) { return c.launch >= from; });
    data.ended.clear();
  } else if (record == "end") {
    data.ended = in.at("how");
  }
}

void parse_run_record(const json& in, Dataset& data) {
  if (in.at("record") != "run") throw Error(ErrorKind::invalid_spec, "the first line must be the record \"run\"");
  if (in.at("schema") != kSchema) {
    throw Error(ErrorKind::unsupported, cat("schema ", in.at("schema").dump(), " is not ", kSchema));
  }
  data.version = in.at("version");
  data.machine = in.at("machine").dump();
  from_json(in.at("experiment"), data.experiment);
}

}  // namespace

void to_json(json& out, const Experiment& e) {
  json places = json::array(), workloads = json::array();
  for (const Place& p : e.places) {
    places.push_back({{"name", p.name},
                      {"role", kRoles[static_cast<int>(p.role)]},
                      {"kind", kKinds[static_cast<int>(p.kind)]},
                      {"namespaces", p.namespaces},
                      {"delay_percent", static_cast<double>(p.delay) / 100},
                      {"layer", p.layer},
                      {"amount", p.amount},
                      {"axis", p.axis},
                      {"against", p.against},
                      {"forks", p.forks},
                      {"bill", p.bill}});
  }
  for (const Workload& w : e.workloads) {
    workloads.push_back({{"name", w.name},
                         {"describes", w.describes},
                         {"command", w.command},
                         {"count", w.count},
                         {"warm_up", w.warm_up},
                         {"unit", w.unit},
                         {"enters", w.enters},
                         {"setup", w.setup},
                         {"prepare", w.prepare},
                         {"cleanup", w.cleanup},
                         {"per_second", w.per_second}});
  }
  // The seed as text: JSON numbers above 2^53 don't survive every reader.
  out = {{"seed", std::to_string(e.seed)},
         {"places", places},
         {"workloads", workloads},
         {"rounds", e.rounds},
         {"batch_ns", e.batch_ns},
         {"time_ns", e.time_ns},
         {"precision", e.precision},
         {"margin", e.margin},
         {"bill", e.bill},
         {"cpu", e.cpu},
         {"directory", e.directory}};
}

void from_json(const json& in, Experiment& e) {
  const auto seed = parse_number<std::uint64_t>(in.at("seed").get<std::string>());
  if (!seed) throw Error(ErrorKind::invalid_spec, "seed is not a number");
  e.seed = *seed;
  e.places.clear();
  e.workloads.clear();
  for (const json& p : in.at("places")) {
    const double delay = p.at("delay_percent");
    e.places.push_back({p.at("name"), from_name<Role>(p.at("role"), kRoles), from_name<PlaceKind>(p.at("kind"), kKinds),
                        p.at("namespaces"), std::llround(delay * 100), p.at("layer"), p.at("amount"), p.at("axis"),
                        p.at("against"), p.at("forks"), p.at("bill")});
  }
  for (const json& w : in.at("workloads")) {
    e.workloads.push_back({w.at("name"), w.at("describes"), w.at("command"), w.at("count"), w.at("warm_up"),
                           w.at("unit"), w.at("enters"), w.at("setup"), w.at("prepare"), w.at("cleanup"),
                           w.at("per_second")});
  }
  e.rounds = in.at("rounds");
  e.batch_ns = in.at("batch_ns");
  e.time_ns = in.at("time_ns");
  e.precision = in.at("precision");
  e.margin = in.at("margin");
  e.bill = in.at("bill");
  e.cpu = in.at("cpu");
  e.directory = in.at("directory");
}

std::string run_line(const Dataset& data, std::string_view started) {
  json experiment;
  to_json(experiment, data.experiment);
  return line({{"record", "run"},
               {"schema", kSchema},
               {"program", "tare-weigh"},
               {"version", data.version},
               {"started", started},
               {"experiment", experiment},
               {"machine", json::parse(data.machine)}});
}

std::string sample_line(const Experiment& e, const Sample& s) {
  return line({{"record", "sample"},
               {"launch", s.launch},
               {"round", s.round},
               {"slot", s.slot},
               {"place", name_of(e.places, s.place)},
               {"workload", name_of(e.workloads, s.workload)},
               {"count", s.count},
               {"wall_ns", s.wall_ns},
               {"cpu_ns", s.cpu_ns},
               {"faults", s.faults},
               {"voluntary_switches", s.voluntary},
               {"involuntary_switches", s.involuntary},
               {"at_ns", s.at_ns},
               {"cgroup_cpu_ns", s.cgroup_cpu_ns},
               {"peak_bytes", s.peak_bytes},
               {"instructions", s.instructions},
               {"cycles", s.cycles}});
}

std::string absence_line(const Experiment& e, const Absence& a) {
  return line({{"record", "absence"},
               {"place", name_of(e.places, a.place)},
               {"workload", a.workload < 0 ? std::string() : name_of(e.workloads, a.workload)},
               {"reason", a.reason}});
}

std::string evidence_line(const Experiment& e, const Evidence& seen) {
  return line({{"record", "evidence"},
               {"workload", name_of(e.workloads, seen.workload)},
               {"layer", seen.layer},
               {"kind", seen.kind},
               {"rate", seen.rate},
               {"conclusive", seen.conclusive},
               {"what", seen.what}});
}

std::string conditions_line(const Conditions& c) {
  return line({{"record", "conditions"},
               {"launch", c.launch},
               {"load", c.load},
               {"processes", c.processes},
               {"cpu_pressure_us", c.cpu_pressure_us},
               {"memory_pressure_us", c.memory_pressure_us},
               {"io_pressure_us", c.io_pressure_us},
               {"grace_ns", c.grace_ns},
               {"stolen_ticks", c.stolen_ticks},
               {"all_ticks", c.all_ticks},
               {"at_ns", c.at_ns}});
}

std::string warning_line(std::string_view text) { return line({{"record", "warning"}, {"text", text}}); }
std::string launch_end_line(int launch) { return line({{"record", "launch_end"}, {"launch", launch}}); }
std::string continued_line(int launch, std::string_view started) {
  return line({{"record", "continued"}, {"launch", launch}, {"started", started}});
}
std::string end_line(std::string_view how) { return line({{"record", "end"}, {"how", how}}); }

Dataset parse_samples(std::string_view text) {
  Dataset data;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    const bool cut_off = end == std::string_view::npos;  // killed while it wrote
    const std::string_view one = text.substr(0, end);
    text = cut_off ? std::string_view{} : text.substr(end + 1);
    if (cut_off && number > 1) break;
    try {
      const json record = json::parse(one);
      number == 1 ? parse_run_record(record, data) : parse_record(record, data);
    } catch (const json::exception& e) {
      throw Error(ErrorKind::invalid_spec, cat("line ", number, ": ", e.what()));
    } catch (Error& e) {
      e.in_front(cat("line ", number));
      throw;
    }
  }
  if (number == 0) throw Error(ErrorKind::invalid_spec, "the file is empty");
  return data;
}

}  // namespace tare::lab
