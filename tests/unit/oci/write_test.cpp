// Writing: what is read again is the same; the template against runc's; features.
#include "oci/write.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "config.hpp"
#include "full_config.hpp"
#include "oci/mount_options.hpp"
#include "oci/names.hpp"

namespace tare::oci::test {
namespace {

using nlohmann::json;

Spec again(const Spec& spec, int indent) {
  Warnings warnings;
  return parse_spec(write_spec(spec, indent), "written", warnings);
}

TEST(Write, WhatIsReadAgainIsTheSame) {
  for (const char* config : {kConfig, kFullConfig}) {
    const Spec spec = read_config(config).spec;
    EXPECT_EQ(again(spec, 0), spec);
    EXPECT_EQ(again(spec, 2), spec);
  }
  for (const bool rootless : {false, true}) {
    const Spec spec = default_spec(rootless, 1000, 1001, true);
    EXPECT_EQ(again(spec, 4), spec);
  }
}

// Nothing of the full config is lost but what the specification makes equal: against the text itself.
TEST(Write, EveryPropertyIsWritten) {
  auto expected = json::parse(kFullConfig);
  const auto written = json::parse(write_spec(read_config(kFullConfig).spec));
  expected["linux"]["timeOffsets"]["boottime"]["nanosecs"] = 0;
  EXPECT_EQ(json::diff(expected, written).dump(1), "[]");
}

TEST(Write, Process) {
  const Process process = read_config(kFullConfig).spec.process.value();
  Warnings warnings;
  EXPECT_EQ(parse_process(write_process(process), "p", warnings), process);
}

TEST(Write, EmptyPartsStayWhatTheyAre) {
  for (const char* patch :
       {R"({"process": null})", R"({"process": {"capabilities": {}}})", R"({"linux": {"resources": {}}})",
        R"({"linux": {"resources": {"memory": {}, "cpu": {}, "blockIO": {}, "network": {}}}})",
        R"({"process": {"execCPUAffinity": {}, "user": {"umask": 0}, "oomScoreAdj": 0}})",
        R"({"linux": {"timeOffsets": {"boottime": {}}, "intelRdt": {}, "personality": {"domain": "LINUX"}}})"}) {
    Warnings warnings;
    const Spec spec = parse_spec(patched(patch), "config.json", warnings);
    EXPECT_EQ(again(spec, 0), spec) << patch;
  }
}

// Debian's runc writes its template into a folder; skipping is not possible: it must be installed.
json runc_template(const std::string& flags) {
  char folder[] = "/tmp/tare-unit-XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  const std::string command = std::string("cd ") + folder + " && runc spec " + flags;
  EXPECT_EQ(system(command.c_str()), 0) << command;
  const std::string file = std::string(folder) + "/config.json";
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  unlink(file.c_str());
  rmdir(folder);
  return json::parse(text.str());
}

// The differences that are meant, and no other.
void expect_as_runc(json theirs, const json& ours) {
  theirs["ociVersion"] = "1.3.0";
  theirs["hostname"] = "tare";
  theirs["process"]["capabilities"].erase("ambient");
  json masked = {"/proc/interrupts", "/sys/devices/virtual/powercap"};
  for (const auto& path : theirs["linux"]["maskedPaths"]) masked.push_back(path);
  std::sort(masked.begin(), masked.end());
  theirs["linux"]["maskedPaths"] = masked;
  json sorted = ours;
  for (json* spec : {&theirs, &sorted}) {
    for (auto& set : (*spec)["process"]["capabilities"]) std::sort(set.begin(), set.end());
  }
  std::sort(sorted["linux"]["maskedPaths"].begin(), sorted["linux"]["maskedPaths"].end());
  EXPECT_EQ(json::diff(theirs, sorted).dump(1), "[]");
}

TEST(Template, IsRuncsButForWhatIsMeant) {
  expect_as_runc(runc_template(""), json::parse(write_spec(default_spec(false))));
}

TEST(Template, RootlessIsRuncsButForWhatIsMeant) {
  expect_as_runc(runc_template("--rootless"), json::parse(write_spec(default_spec(true, getuid(), getgid()))));
}

TEST(Template, IsValidWithoutAWarning) {
  for (const bool rootless : {false, true}) {
    Warnings warnings;
    const Spec spec = again(default_spec(rootless, 1000, 1000, true), 2);
    validate(spec, warnings);
    EXPECT_EQ(warnings, Warnings{});
    EXPECT_EQ(spec.process->capabilities->inheritable, 0U);
    EXPECT_EQ(spec.process->capabilities->ambient, 0U);
    EXPECT_TRUE(spec.has_new_namespace(NamespaceType::cgroup));
  }
}

TEST(Features, HasWhatTheSpecificationAsksFor) {
  const auto features = json::parse(features_json());
  EXPECT_EQ(features.at("ociVersionMin"), "1.0.0");
  EXPECT_EQ(features.at("ociVersionMax"), "1.3.0");
  EXPECT_EQ(features.at("hooks").size(), 6U);
  const auto& on_linux = features.at("linux");
  EXPECT_EQ(on_linux.at("namespaces").size(), 8U);
  EXPECT_EQ(on_linux.at("capabilities").size(), 41U);
  EXPECT_EQ(on_linux.at("cgroup"),
            json::parse(R"({"v1":true,"v2":true,"systemd":false,"systemdUser":false,"rdma":false})"));
  EXPECT_TRUE(on_linux.at("seccomp").at("enabled"));
  EXPECT_EQ(on_linux.at("seccomp").at("actions").size(), 8U);
  for (const auto& action : on_linux.at("seccomp").at("actions")) EXPECT_NE(action, "SCMP_ACT_NOTIFY");
  for (const auto& option : features.at("mountOptions")) EXPECT_NE(option, "idmap");
  EXPECT_FALSE(on_linux.at("mountExtensions").at("idmap").at("enabled"));
  for (const auto& name : features.at("mountOptions")) {
    EXPECT_TRUE(parse_mount_options({name.get<std::string>()}).data.empty()) << name;
  }
  EXPECT_EQ(features.at("potentiallyUnsafeConfigAnnotations"), json::array({kAnnotationRootOverlay}));
}

}  // namespace
}  // namespace tare::oci::test
