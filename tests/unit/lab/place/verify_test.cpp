// The check of a place from outside must be able to fail: this process is bare, and nothing else.
#include "lab/place/verify.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "lab/place/plans.hpp"

namespace tare::lab {
namespace {

std::string complaint(const Place& place) {
  oci::Spec spec;
  spec.process.emplace();
  spec.process->capabilities.emplace();
  spec.linux_.masked_paths = {"/proc/keys"};
  try {
    verify(place, getpid(), cgroup::Location{}, &spec);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

Place layer(const char* name, std::vector<std::string> namespaces = {}) {
  Place p{name, Role::subject, PlaceKind::layer, std::move(namespaces), 0};
  p.layer = name;
  return p;
}

TEST(Verify, ABareProcessIsBare) { EXPECT_EQ(complaint({"bare", Role::reference, PlaceKind::bare, {}, 0}), ""); }

TEST(Verify, ItIsNoNamespace) {
  for (const char* name : {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time"}) {
    const std::string text = complaint({name, Role::subject, PlaceKind::namespaces, {name}, 0});
    EXPECT_NE(text.find("namespaces that differ from the laboratory's should be " + std::string(name) + ", not none"),
              std::string::npos)
        << text;
  }
}

TEST(Verify, ItIsNoLayer) {
  Place filter = layer("seccomp");
  EXPECT_NE(complaint(filter).find("seccomp filters"), std::string::npos);
  EXPECT_NE(complaint(layer("no-new-privs")).find("no_new_privs"), std::string::npos);
  EXPECT_NE(complaint(layer("overlay")).find("root file system should be overlay"), std::string::npos);
  EXPECT_NE(complaint(layer("ro-bind")).find("read-only"), std::string::npos);
  EXPECT_NE(complaint(layer("idmap")).find("ids of its root are mapped"), std::string::npos);
}

TEST(Verify, ItIsNotDeep) {
  Place deep{"pid-2", Role::subject, PlaceKind::nested, {}, 0};
  deep.amount = 2;
  EXPECT_EQ(complaint(deep), "");  // of no namespace
  deep.namespaces = {"pid"};
  EXPECT_NE(complaint(deep).find("should be pid, not none"), std::string::npos);
}

TEST(Rules, EachIsAComparisonMoreAndNoRuleIsTheShortestFilter) {
  EXPECT_EQ(filter_of_rules(0).program.size(), 1U);
  const std::size_t few = filter_of_rules(20).program.size(), many = filter_of_rules(400).program.size();
  EXPECT_GT(few, 20U);
  EXPECT_GE(many - few, 380U);
}

}  // namespace
}  // namespace tare::lab
