// Which container a cgroup is: the engines' own names, and what is none though it looks like one.
#include "nsview/container.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace tare::nsview {
namespace {

const std::string kA(64, 'a'), kB(64, 'b');

// "engine id cgroup", or "-".
std::string found(const std::string& path) {
  const auto key = container_of_path(path);
  return key ? cat(key->engine, " ", key->id.substr(0, 1), key->users ? " user " : " ", key->cgroup) : "-";
}

TEST(Container, OfEachEngine) {
  EXPECT_EQ(found("/docker/" + kA), "docker a /docker/" + kA);
  EXPECT_EQ(found("/system.slice/docker-" + kA + ".scope"), "docker a /system.slice/docker-" + kA + ".scope");
  EXPECT_EQ(found("/machine.slice/libpod-" + kA + ".scope/container"),
            "podman a /machine.slice/libpod-" + kA + ".scope");
  EXPECT_EQ(found("/libpod_parent/libpod-" + kA), "podman a /libpod_parent/libpod-" + kA);
  EXPECT_EQ(found("/system.slice/crio-" + kA + ".scope"), "cri-o a /system.slice/crio-" + kA + ".scope");
  EXPECT_EQ(found("/system.slice/nerdctl-" + kA + ".scope"), "containerd a /system.slice/nerdctl-" + kA + ".scope");
  const std::string pod = "/kubepods/burstable/pod1234";
  EXPECT_EQ(found(pod + "/" + kA), "kubernetes a " + pod + "/" + kA);
  const std::string slice = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + kA + ".scope";
  EXPECT_EQ(found(slice), "kubernetes a " + slice);
  const std::string odd = "/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" + kA;
  EXPECT_EQ(found(odd), "containerd a " + odd);
}

TEST(Container, OfAUserIsSaidToBeAUsers) {
  const std::string path = "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kA + ".scope";
  EXPECT_EQ(found(path), "podman a user " + path);
}

TEST(Container, WhatIsNone) {
  for (const std::string& path :
       {std::string("/"), std::string(""), "/" + kA, "/system.slice/" + kA,
        "/machine.slice/libpod-conmon-" + kA + ".scope", "/system.slice/crio-conmon-" + kA + ".scope",
        "/docker/" + kA.substr(1), "/docker/" + kA + "a", "/docker/" + std::string(64, 'A'),
        "/docker-" + kA + ".service", "/kubepods/burstable/pod" + kA,
        std::string("/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.mozilla.firefox-12.scope"),
        std::string("/system.slice/docker.service")})
    EXPECT_EQ(found(path), "-") << path;
}

TEST(Container, TheOutermostCounts) {
  // A container names a cgroup of its own like another's.
  EXPECT_EQ(found("/docker/" + kA + "/docker/" + kB), "docker a /docker/" + kA);
  EXPECT_EQ(found("/docker/" + kA + "/system.slice/libpod-" + kB + ".scope"), "docker a /docker/" + kA);
}

TEST(Container, OfTareByItsRecord) {
  const std::vector<Known> known = {{"tare", "web1", {{"memory", "/web1"}, {"cpu,cpuacct", "/c/web1"}, {"", "/web1"}}}};
  const auto of = [&](const std::string& text) {
    const auto key = container_of(text, known);
    return key ? key->engine + " " + key->id : "-";
  };
  EXPECT_EQ(of("3:memory:/web1\n0::/\n"), "tare web1");
  EXPECT_EQ(of("3:memory:/web1/deeper\n"), "tare web1");
  EXPECT_EQ(of("0::/web1\n"), "tare web1");
  EXPECT_EQ(of("4:cpu,cpuacct:/c/web1\n"), "tare web1");
  EXPECT_EQ(of("3:memory:/web10\n"), "-");
  EXPECT_EQ(of("3:pids:/web1\n"), "-");
  EXPECT_EQ(of("4:cpu,cpuacct:/web1\n"), "-");
  EXPECT_EQ(of("nonsense\n:\n::\n"), "-");
  // Another engine's container inside; and tare as an engine's runtime, whose container it is then.
  EXPECT_EQ(of("3:memory:/web1/docker/" + kA + "\n"), "tare web1");
  const std::vector<Known> same = {{"tare", kA, {{"memory", "/libpod_parent/libpod-" + kA}}}};
  EXPECT_EQ(container_of("3:memory:/libpod_parent/libpod-" + kA + "\n", same)->engine, "podman");
}

}  // namespace
}  // namespace tare::nsview
