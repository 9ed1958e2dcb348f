// Names from stores as the engines leave them on disk, and odd ones.
#include "nsview/names.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"

namespace tare::nsview {
namespace {

class NamesTest : public testing::Test {
 protected:
  NamesTest() {
    std::string pattern = testing::TempDir() + "/names.XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~NamesTest() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string name(const std::string& engine, bool users = false) const {
    return Names(root_).of({engine, id_, "/x", users});
  }
  std::string root_, id_ = std::string(64, 'a');
};

TEST_F(NamesTest, OfDocker) {
  EXPECT_EQ(name("docker"), "");
  put("/var/lib/docker/containers/" + id_ + "/config.v2.json", R"({"Name":"/web","State":{"Pid":77}})");
  EXPECT_EQ(name("docker"), "web");
  EXPECT_EQ(Names(root_).first_process({"docker", id_, "/x", false}), 77);
}

TEST_F(NamesTest, OfPodmanWhateverItsDriver) {
  for (const char* driver : {"overlay", "vfs"}) {
    put(cat("/var/lib/containers/storage/", driver, "-containers/containers.json"),
        cat(R"([{"id":"b","names":["other"]},{"id":")", id_, R"(","names":["web)", driver, R"("]},{"id":"c"}])"));
    if (geteuid() == 0) {
      EXPECT_EQ(name("podman"), cat("web", driver));
    }
    std::filesystem::remove_all(root_ + "/var/lib/containers");
  }
}

TEST_F(NamesTest, OfKubernetes) {
  put("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id_ + "/config.json",
      R"({"annotations":{"io.kubernetes.cri.sandbox-name":"pod","io.kubernetes.cri.container-name":"web"}})");
  EXPECT_EQ(name("kubernetes"), "pod/web");
  put("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id_ + "/init.pid", "42\n");
  EXPECT_EQ(Names(root_).first_process({"kubernetes", id_, "/x", false}), 42);
}

TEST_F(NamesTest, AUsersContainerIsNotLookedForByRoot) {
  put("/var/lib/docker/containers/" + id_ + "/config.v2.json", R"({"Name":"/web","State":{"Pid":77}})");
  if (geteuid() == 0) {
    EXPECT_EQ(name("docker", true), "");
  }
}

TEST_F(NamesTest, OddStoresGiveNone) {
  const std::string file = "/var/lib/docker/containers/" + id_ + "/config.v2.json";
  for (const char* text : {"", "[]", "null", "{", R"({"Name":7})", R"({"Name":null})"}) {
    put(file, text);
    EXPECT_EQ(name("docker"), "") << text;
  }
  std::filesystem::remove(root_ + file);
  ASSERT_EQ(mkfifo((root_ + file).c_str(), 0600), 0);  // nobody writes: it must not be waited for
  EXPECT_EQ(name("docker"), "");
}

}  // namespace
}  // namespace tare::nsview
