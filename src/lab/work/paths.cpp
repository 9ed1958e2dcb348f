// stat, open and close, and create and unlink of a file which lies 1, 4 or 16 folders deep below the folder
// for files: what a name costs, and what a folder on the way to it. The tree is made before the clock starts
// and removed after it; it is called by the laboratory's pid (left.hpp), since a killed worker leaves it.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/work/folder.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

class Tree {
 public:
  explicit Tree(int depth) noexcept {
    folder_.reset(open(files_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) {
      fault_ = {"open", errno};
      return;
    }
    remove_tree(folder_.get(), owner());  // of a worker that was killed
    char name[64];
    name_of(owner(), name);
    strcpy(path_, files_directory());
    strcat(path_, name);
    for (int i = 0; i < depth; ++i) {
      if (i > 0) strcat(strcat(path_, "/"), kFolder);
      if (mkdir(path_, 0700) != 0) {
        fault_ = {"mkdir", errno};
        return;
      }
    }
    strcat(path_, "/");
    strcpy(new_path_, path_);
    strcat(path_, kFile);
    strcat(new_path_, kNewFile);
    const End file(open(path_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) fault_ = {"create", errno};
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    if (folder_) remove_tree(folder_.get(), owner());
  }
  Fault fault() const noexcept { return fault_; }
  const char* path() const noexcept { return path_; }
  const char* new_path() const noexcept { return new_path_; }

 private:
  End folder_;
  Fault fault_;
  char path_[160];
  char new_path_[160];
};

template <class Op>
Fault in_tree(const Batch& batch, RunResult& result, int depth, std::int64_t chunk, Op&& op) noexcept {
  const Tree tree(depth);
  if (tree.fault().step != nullptr) return tree.fault();
  return measure(batch, result, chunk, [&]() noexcept { return op(tree); });
}

template <int depth>
Fault run_stat(const Batch& batch, RunResult& result) noexcept {
  return in_tree(batch, result, depth, 2048, [](const Tree& tree) noexcept -> Fault {
    struct stat st;
    if (stat(tree.path(), &st) != 0) return {"stat", errno};
    if (!S_ISREG(st.st_mode)) [[unlikely]] {
      return {"kind-of-the-file"};
    }
    return {};
  });
}

template <int depth>
Fault run_open_at(const Batch& batch, RunResult& result) noexcept {
  return in_tree(batch, result, depth, 1024, [](const Tree& tree) noexcept -> Fault {
    const End fd(open(tree.path(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {"open", errno};
    return {};
  });
}

// O_EXCL and unlink check each other: neither succeeds twice in a row.
template <int depth>
Fault run_create(const Batch& batch, RunResult& result) noexcept {
  return in_tree(batch, result, depth, 128, [](const Tree& tree) noexcept -> Fault {
    const End fd(open(tree.new_path(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd) return {"create", errno};
    if (unlink(tree.new_path()) != 0) return {"unlink", errno};
    return {};
  });
}

}  // namespace

Fault run_stat_1(const Batch& batch, RunResult& result) noexcept { return run_stat<1>(batch, result); }
Fault run_stat_4(const Batch& batch, RunResult& result) noexcept { return run_stat<4>(batch, result); }
Fault run_stat_16(const Batch& batch, RunResult& result) noexcept { return run_stat<kDeepest>(batch, result); }
Fault run_open_1(const Batch& batch, RunResult& result) noexcept { return run_open_at<1>(batch, result); }
Fault run_open_4(const Batch& batch, RunResult& result) noexcept { return run_open_at<4>(batch, result); }
Fault run_open_16(const Batch& batch, RunResult& result) noexcept { return run_open_at<kDeepest>(batch, result); }
Fault run_create_1(const Batch& batch, RunResult& result) noexcept { return run_create<1>(batch, result); }
Fault run_create_4(const Batch& batch, RunResult& result) noexcept { return run_create<4>(batch, result); }
Fault run_create_16(const Batch& batch, RunResult& result) noexcept { return run_create<kDeepest>(batch, result); }

}  // namespace tare::lab
