// Runs the contestants of a comparison in turn and writes down what each run cost. Used by bench/run.
//
//   measure JOBS ROUNDS WARMUP [MEMORY_CGROUP] > SAMPLES
//
// JOBS: one contestant a line, fields parted by tabs: GROUP NAME COMMAND ARG ... ; a field ";;" starts another command
// of the same sample (create ;; start ;; delete); "{n}" in an argument becomes a number that no other sample has.
// Lines of one group stand together. Each round runs all contestants of a group once, and starts with the next one.
//
// SAMPLES: group, round, name, wall (ns), CPU (µs), minor faults, major faults, peak RSS (KiB), cgroup peak (bytes, 0
// unless asked for), parted by tabs; warm-up rounds are negative.
//   wall     until the command's own exit is seen; its commands one after the other
//   CPU      user + system of the whole tree: wait4 adds up those that the command waited for, and orphans come to
//            this process (a subreaper), which waits for them too. Kernel workers are in nobody's account.
//   faults   in the same way
//   peak     the largest of all processes (ru_maxrss); this program is small, for a child begins with its parent's
//   cgroup   memory.max_usage_in_bytes of MEMORY_CGROUP (a cgroup v1 directory that this process is in)
// A command that fails or takes a minute ends everything: status 1 and its name on stderr.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMaxJobs = 64, kMaxFields = 64, kMaxLine = 16384, kPatience = 60 /* s */ };

struct Job {
  const char* group;
  const char* name;
  char* fields[kMaxFields];
  int count;
};

struct Sample {
  long long wall_ns, cpu_us, minor_faults, major_faults, peak_kib, cgroup_peak;
};

extern char** environ;
static struct Job jobs[kMaxJobs];
static int job_count;
static long serial;
static const char* memory_cgroup;

static void die(const char* what, const char* detail) {
  fprintf(stderr, "measure: %s: %s\n", what, detail);
  exit(1);
}

static volatile pid_t running;

static void too_long(int signal) {
  (void)signal;
  static const char text[] = "measure: a command takes more than a minute, killed\n";
  if (write(2, text, sizeof text - 1) > 0 && running > 0) kill(running, SIGKILL);
}

static void read_jobs(const char* path) {
  FILE* file = fopen(path, "re");
  if (file == NULL) die(path, strerror(errno));
  static char line[kMaxLine];
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] == 0 || line[0] == '#') continue;
    if (job_count == kMaxJobs) die(path, "too many lines");
    struct Job* job = &jobs[job_count++];
    char* text = strdup(line);
    job->group = strsep(&text, "\t");
    job->name = strsep(&text, "\t");
    while (text != NULL) {
      if (job->count == kMaxFields - 1) die(path, "too many fields in a line");
      job->fields[job->count++] = strsep(&text, "\t");
    }
    if (job->count == 0) die(path, "a line without a command");
  }
  fclose(file);
}

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void add_usage(struct Sample* sample, const struct rusage* usage) {
  sample->cpu_us +=
      (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000LL + usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
  sample->minor_faults += usage->ru_minflt;
  sample->major_faults += usage->ru_majflt;
  if (usage->ru_maxrss > sample->peak_kib) sample->peak_kib = usage->ru_maxrss;
}

// Replaces {n}; the result is never freed: it is small and the program is short.
static char* with_serial(char* field) {
  char* mark = strstr(field, "{n}");
  if (mark == NULL) return field;
  const size_t size = strlen(field) + 24;
  char* text = malloc(size);
  if (text == NULL) die("malloc", strerror(errno));
  snprintf(text, size, "%.*s%ld%s", (int)(mark - field), field, serial, mark + 3);
  return text;
}

static void run_command(char** argv, const posix_spawn_file_actions_t* files, struct Sample* sample) {
  pid_t child;
  struct rusage usage;
  int status;
  const long long start = now_ns();
  const int error = posix_spawnp(&child, argv[0], files, NULL, argv, environ);
  if (error != 0) die(argv[0], strerror(error));
  running = child;
  for (;;) {
    const pid_t pid = wait4(-1, &status, 0, &usage);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) die("wait4", strerror(errno));
    add_usage(sample, &usage);
    if (pid == child) break;
  }
  sample->wall_ns += now_ns() - start;
  running = 0;
  if (status != 0) {
    fprintf(stderr, "measure: failed with wait status %#x:", (unsigned)status);
    for (char** arg = argv; *arg != NULL; ++arg) fprintf(stderr, " %s", *arg);
    fprintf(stderr, "\n");
    exit(1);
  }
}

static int open_memory(const char* file, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", memory_cgroup, file);
  const int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) die(path, strerror(errno));
  return fd;
}

static void reset_memory(void) {
  const int fd = open_memory("memory.max_usage_in_bytes", O_WRONLY);
  if (write(fd, "0", 1) != 1) die("memory.max_usage_in_bytes", strerror(errno));
  close(fd);
}

static long long read_memory(const char* file) {
  char text[32] = "";
  const int fd = open_memory(file, O_RDONLY);
  if (read(fd, text, sizeof text - 1) <= 0) die(file, strerror(errno));
  close(fd);
  return atoll(text);
}

static struct Sample run_job(const struct Job* job, const posix_spawn_file_actions_t* files) {
  struct Sample sample = {0};
  char* argv[kMaxFields + 1];
  long long before = 0;
  ++serial;
  if (memory_cgroup != NULL) {
    reset_memory();
    before = read_memory("memory.usage_in_bytes");
  }
  alarm(kPatience);
  int argc = 0;
  for (int i = 0; i <= job->count; ++i) {
    if (i == job->count || strcmp(job->fields[i], ";;") == 0) {
      argv[argc] = NULL;
      run_command(argv, files, &sample);
      argc = 0;
    } else {
      argv[argc++] = with_serial(job->fields[i]);
    }
  }
  struct rusage usage;
  while (wait4(-1, NULL, 0, &usage) > 0) add_usage(&sample, &usage);
  if (errno != ECHILD) die("orphans", strerror(errno));
  alarm(0);
  if (memory_cgroup != NULL) sample.cgroup_peak = read_memory("memory.max_usage_in_bytes") - before;
  return sample;
}

static void run_group(int first, int count, long rounds, long warmup, const posix_spawn_file_actions_t* files) {
  for (long round = -warmup; round < rounds; ++round) {
    for (int k = 0; k < count; ++k) {
      const struct Job* job = &jobs[first + (int)((round + warmup + k) % count)];
      const struct Sample s = run_job(job, files);
      printf("%s\t%ld\t%s\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\n", job->group, round, job->name, s.wall_ns, s.cpu_us,
             s.minor_faults, s.major_faults, s.peak_kib, s.cgroup_peak);
      fflush(stdout);
    }
  }
}

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) die("usage", "measure JOBS ROUNDS WARMUP [MEMORY_CGROUP]");
  read_jobs(argv[1]);
  if (argc == 5) memory_cgroup = argv[4];
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) die("prctl", strerror(errno));
  const struct sigaction action = {.sa_handler = too_long};
  sigaction(SIGALRM, &action, NULL);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  for (int first = 0; first < job_count;) {
    int count = 1;
    while (first + count < job_count && strcmp(jobs[first].group, jobs[first + count].group) == 0) ++count;
    run_group(first, count, atol(argv[2]), atol(argv[3]), &files);
    first += count;
  }
  return 0;
}
