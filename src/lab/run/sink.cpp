#include "lab/run/sink.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

namespace {

void make_folders(const std::string& path) {
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) throw_errno(cat("mkdir ", folder), errno);
  }
}

std::string now_as(const char* format) {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string now_text() { return now_as("%Y-%m-%dT%H:%M:%SZ"); }

std::string default_sample_path(std::uint64_t seed) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  std::string folder;
  if (state != nullptr && state[0] == '/') {
    folder = state;
  } else if (home != nullptr && home[0] == '/') {
    folder = cat(home, "/.local/state");
  } else {
    folder = "/var/lib";
  }
  return cat(folder, "/tare/weigh/", now_as("%Y%m%dT%H%M%SZ"), "-", seed, ".jsonl");
}

Sink::Sink(std::string path) : path_(std::move(path)) {
  make_folders(path_);
  try {
    fd_ = sys::open(path_, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0644);
  } catch (Error& error) {
    if (error.errno_value() != EEXIST) throw;
    throw Error(ErrorKind::conflict, cat(path_, " exists already"))
        .hint("samples are never written over; name another");
  }
}

Sink Sink::gone_on(std::string path) {
  Sink sink;
  sink.empty_ = false;
  sink.path_ = std::move(path);
  with_intent(sink.path_, [&] {
    sink.fd_ = sys::open(sink.path_, O_RDWR | O_APPEND);
    const std::string text = sys::read_all(sink.fd_, kMostSamples);
    const auto whole = text.rfind('\n');
    if (whole == std::string::npos) throw Error(ErrorKind::invalid_spec, "there is no whole record in it");
    if (ftruncate(sink.fd_.get(), static_cast<off_t>(whole + 1)) != 0) throw_errno("ftruncate", errno);
  });
  return sink;
}

Sink::~Sink() {
  if (empty_) unlink(path_.c_str());
}

void Sink::append(std::string_view line) {
  empty_ = false;
  with_intent(cat("write ", path_), [&] { sys::write_all(fd_, line); });
}

}  // namespace tare::lab
