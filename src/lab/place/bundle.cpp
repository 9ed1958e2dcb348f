#include "lab/place/bundle.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/launcher.hpp"
#include "lab/place/program.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

namespace {

void make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(cat("mkdir ", path), errno);
}

void write_config(nlohmann::json spec, const std::string& file, const std::string& cgroup,
                  const std::vector<std::string>& argv) {
  spec["process"]["args"] = argv;
  spec["linux"]["cgroupsPath"] = cgroup;
  const sys::Fd out = sys::open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  with_intent(cat("write ", file), [&] { sys::write_all(out, spec.dump()); });
}

// What is on another device is a mount, and is left alone.
void clear(int folder, dev_t device) noexcept {
  try {
    for (const std::string& name : sys::list_dir(sys::DirFd(fcntl(folder, F_DUPFD_CLOEXEC, 0)))) {
      struct stat st{};
      if (fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_dev != device) continue;
      if (!S_ISDIR(st.st_mode)) {
        unlinkat(folder, name.c_str(), 0);
        continue;
      }
      const sys::Fd below(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below) clear(below.get(), device);
      unlinkat(folder, name.c_str(), AT_REMOVEDIR);
    }
  } catch (const Error&) {
  }
}

}  // namespace

Bundle make_bundle(const std::string& scratch, const std::string& place, const std::string& cgroup) {
  Bundle bundle{find_program("tare"), cat(scratch, "/", place), cat(scratch, "/", place, "/state")};
  make_folder(bundle.folder);
  make_folder(bundle.state);
  const std::string text = output_of({bundle.tare, "box", "--tty=false", "--print-spec", "--", "/bin/true"});
  nlohmann::json spec = nlohmann::json::parse(text, nullptr, false);
  if (!spec.is_object()) throw Error(ErrorKind::child, "tare box --print-spec prints no JSON object");
  write_config(spec, bundle.folder + "/config.json", cgroup + ".start", {"/bin/true"});
  write_config(std::move(spec), bundle.folder + "/idle.json", cgroup + ".idle", {"/bin/sleep", "3600"});
  return bundle;
}

std::string put_in(std::string_view text, const Bundle& bundle) {
  std::string out;
  while (!text.empty()) {
    const auto replace = [&](std::string_view word, const std::string& by) {
      if (!text.starts_with(word)) return false;
      out += by;
      text.remove_prefix(word.size());
      return true;
    };
    if (replace("{tare}", bundle.tare) || replace("{bundle}", bundle.folder) || replace("{state}", bundle.state))
      continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

std::vector<std::string> put_in(const std::vector<std::string>& texts, const Bundle& bundle) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(put_in(text, bundle));
  return out;
}

void remove_folder(const std::string& path) noexcept {
  struct stat st{};
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  if (fstat(folder, &st) == 0) clear(folder, st.st_dev);
  close(folder);
  rmdir(path.c_str());
}

}  // namespace tare::lab
