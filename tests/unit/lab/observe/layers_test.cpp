#include "lab/observe/layers.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <set>

#include "lab/model/model.hpp"
#include "lab/observe/meter.hpp"

namespace tare::lab {
namespace {

TEST(Layers, EveryNamespaceAndLayerOfThePlacesIsThere) {
  for (const Place& place : named_places({"namespaces", "layers"})) {
    if (place.role != Role::subject || place.kind == PlaceKind::bare) continue;
    EXPECT_NE(find_layer(place.name), nullptr) << place.name;
  }
  EXPECT_EQ(find_layer("container"), nullptr);
  EXPECT_EQ(find_layer(""), nullptr);
}

TEST(Layers, NoNameStandsTwice) {
  std::set<std::string> names;
  for (const Place& place : named_places({"all"})) {
    const Layer* const layer = find_layer(place.name);
    if (layer == nullptr) continue;
    int n = 0;
    for (const char* name : layer->names) n += name == place.name;
    EXPECT_EQ(n, 1) << place.name;
  }
}

// A call that nobody can count would make a proof of absence out of a spelling mistake.
TEST(Layers, EveryCallHasANumber) {
  for (const char* name : {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time", "caps", "no-new-privs",
                           "overlay", "limits", "veth"}) {
    const Layer* const layer = find_layer(name);
    ASSERT_NE(layer, nullptr);
    for (const auto* list : {&layer->calls, &layer->perhaps}) {
      for (const char* call : *list) EXPECT_GE(call_number(call), 0) << name << ": " << call;
    }
  }
  ASSERT_EQ(find_layer("seccomp-20")->calls.size(), 1u);
  EXPECT_STREQ(find_layer("seccomp-20")->calls[0], "*");
}

TEST(Layers, NumbersAndNamesAgree) {
  EXPECT_EQ(call_number("getppid"), SYS_getppid);
  EXPECT_EQ(call_name(SYS_openat), "openat");
  EXPECT_EQ(call_number("no_such_call"), -1);
  EXPECT_EQ(call_name(99999), "99999");
}

TEST(Meter, DifferencesAreOfWhatIsKnown) {
  const Reading d = difference({100, 5, -1, 7}, {150, 9, 3, 10});
  EXPECT_EQ(d.cpu_ns, 50);
  EXPECT_EQ(d.peak_bytes, 9);
  EXPECT_EQ(d.instructions, -1);
  EXPECT_EQ(d.cycles, 3);
}

TEST(Meter, WhereThereIsNoCgroupNothingIsKnown) {
  const Meter meter(getpid(), {"/nowhere"});
  EXPECT_EQ(meter.read().cpu_ns, -1);
  EXPECT_EQ(meter.read().peak_bytes, -1);
}

}  // namespace
}  // namespace tare::lab
