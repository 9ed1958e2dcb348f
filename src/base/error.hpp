// The one exception type of tare.
//
// For: every failure outside the child. A low layer throws with the call's name and the errno;
// those who know the intent put it in front as the error passes (`in_front`), so that a person
// reads: "create web1: mount proc on /proc: fsopen: operation not permitted".
// Not for: the child between clone and exec, which is noexcept and reports {operation, errno}.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace tare {

enum class ErrorKind {
  usage,         // the command line is wrong
  invalid_spec,  // config.json asks for something that can't be
  not_found,     // no such container, bundle, file
  conflict,      // the id is taken, the container is in the wrong state, someone else holds the lock
  unsupported,   // this kernel or this machine can't
  kernel,        // a system call failed
  child,         // the container's process died before exec
  bug,           // tare itself is wrong
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string text, int errno_value = 0);

  // Puts "intent: " before the text.
  Error& in_front(std::string_view intent);
  // One line of advice, printed below the error; the first one given stays.
  Error& hint(std::string text);

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& text() const noexcept { return text_; }
  const std::string& hint() const noexcept { return hint_; }
  ErrorKind kind() const noexcept { return kind_; }
  int errno_value() const noexcept { return errno_; }

 private:
  ErrorKind kind_;
  int errno_;
  std::string text_;
  std::string hint_;
};

// The text of an errno in lower case ("no such file or directory"): engines compare these words.
std::string_view errno_text(int errno_value) noexcept;

// Throws kind kernel: "call: errno text".
[[noreturn]] void throw_errno(std::string_view call, int errno_value);

// Runs f; an Error that leaves it gets "intent: " in front.
template <class F>
decltype(auto) with_intent(std::string_view intent, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    error.in_front(intent);
    throw;
  }
}

}  // namespace tare
