#include "seccomp/cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::seccomp {
namespace {

namespace fs = std::filesystem;

oci::Seccomp profile(std::uint32_t errno_ret) {
  oci::Seccomp p;
  p.default_action = "SCMP_ACT_ALLOW";
  p.syscalls.push_back({{"getuid"}, "SCMP_ACT_ERRNO", errno_ret, {}});
  return p;
}

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tare-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    folder_ = base_ + "/.seccomp";
  }
  void TearDown() override { fs::remove_all(base_); }

  bool hits(const oci::Seccomp& p) {
    bool hit = false;
    EXPECT_EQ(compile_cached(p, folder_, &hit), compile(p)) << "whatever the folder holds, the program is right";
    return hit;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path());
    return out;
  }
  std::string only_file() const {
    const auto all = files();
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string base_, folder_;
};

TEST_F(Cache, SecondTimeHits) {
  EXPECT_FALSE(hits(profile(1)));
  EXPECT_TRUE(hits(profile(1)));
  EXPECT_FALSE(hits(profile(2)));
  EXPECT_TRUE(hits(profile(1)));
  EXPECT_EQ(files().size(), 2U);
  struct stat status{};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
  ASSERT_EQ(stat(files()[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(Cache, AnyAlteredByteIsNoticed) {
  EXPECT_FALSE(hits(profile(1)));
  const std::string path = only_file();
  const std::string good = read(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(path, bad);
    EXPECT_FALSE(hits(profile(1))) << "byte " << i;
    EXPECT_EQ(read(path), good) << "rewritten";
  }
  EXPECT_TRUE(hits(profile(1)));
}

TEST_F(Cache, TruncatedOrLongerIsIgnored) {
  EXPECT_FALSE(hits(profile(1)));
  const std::string path = only_file();
  const std::string good = read(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{32}, good.size() - 1}) {
    write(path, good.substr(0, size));
    EXPECT_FALSE(hits(profile(1))) << size;
  }
  write(path, good + "x");
  EXPECT_FALSE(hits(profile(1)));
  EXPECT_TRUE(hits(profile(1)));
}

// As if both inputs had the same hash: the file is of another profile.
TEST_F(Cache, ACollisionCannotPoison) {
  EXPECT_FALSE(hits(profile(1)));
  const std::string first = only_file();
  const std::string bytes = read(first);
  fs::remove(first);
  EXPECT_FALSE(hits(profile(2)));
  write(only_file(), bytes);
  EXPECT_FALSE(hits(profile(2)));
  EXPECT_TRUE(hits(profile(2)));
}

TEST_F(Cache, FilesThatOthersMayTouchAreIgnored) {
  EXPECT_FALSE(hits(profile(1)));
  const std::string path = only_file();
  for (const mode_t mode : {0620U, 0602U, 0640U, 0604U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(hits(profile(1))) << mode;
  }
  EXPECT_TRUE(hits(profile(1)));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 12345, 0), 0);
    EXPECT_FALSE(hits(profile(1)));
  }
  const std::string moved = base_ + "/elsewhere";
  ASSERT_TRUE(hits(profile(1)));
  fs::rename(path, moved);
  fs::create_symlink(moved, path);
  EXPECT_FALSE(hits(profile(1))) << "links aren't followed";
  EXPECT_TRUE(hits(profile(1)));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(hits(profile(1))) << "and a FIFO doesn't hang";
  EXPECT_TRUE(hits(profile(1)));
}

TEST_F(Cache, FolderInTheWayCostsTimeOnly) {
  write(folder_, "a file");
  EXPECT_FALSE(hits(profile(1)));
  EXPECT_FALSE(hits(profile(1)));
  fs::remove(folder_);
  fs::create_directory(folder_);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(hits(profile(1)));
  EXPECT_TRUE(files().empty()) << "nothing is kept where anyone may put files";
  bool hit = true;
  EXPECT_EQ(compile_cached(profile(1), base_ + "/no/such/.seccomp", &hit), compile(profile(1)));
  EXPECT_FALSE(hit);
}

TEST_F(Cache, EntriesAreBounded) {
  for (std::uint32_t i = 1; i <= kCacheEntries + 10; ++i) EXPECT_FALSE(hits(profile(i)));
  EXPECT_EQ(files().size(), kCacheEntries);
  EXPECT_TRUE(hits(profile(kCacheEntries + 10))) << "the newest stays";
  EXPECT_FALSE(hits(profile(1))) << "the oldest went";
}

TEST_F(Cache, ErrorsOfTheProfileStay) {
  oci::Seccomp bad = profile(1);
  bad.default_action = "x";
  EXPECT_THROW(compile_cached(bad, folder_), Error);
}

}  // namespace
}  // namespace tare::seccomp
