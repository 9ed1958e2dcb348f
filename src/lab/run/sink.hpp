// The sample file on disk: each record is written as it is taken, with one write(2), to the end.
//
// A file that exists is never written over (conflict); it can be gone on with. A full disk throws kernel and loses
// nothing that was written before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sys/fd.hpp"

namespace tare::lab {

inline constexpr std::size_t kMostSamples = std::size_t{1} << 30;  // bytes of a sample file that is read

class Sink {
 public:
  explicit Sink(std::string path);  // makes the folders on the way
  // Appends to the file of a run that was stopped, after what is left of a record that was cut off has been taken away.
  static Sink gone_on(std::string path);
  ~Sink();  // a file that nothing was written to is taken away again
  Sink(Sink&& other) noexcept
      : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)), empty_(std::exchange(other.empty_, false)) {}
  Sink& operator=(Sink&&) = delete;
  void append(std::string_view line);
  const std::string& path() const { return path_; }
  bool empty() const { return empty_; }

 private:
  Sink() = default;
  std::string path_;
  sys::Fd fd_;
  bool empty_ = true;
};

// $XDG_STATE_HOME/tare/weigh/TIME-SEED.jsonl, with ~/.local/state where that is not set.
std::string default_sample_path(std::uint64_t seed);

// "2026-11-30T22:57:47Z"
std::string now_text();

}  // namespace tare::lab
