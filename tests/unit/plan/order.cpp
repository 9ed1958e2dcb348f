// The order of a start, as plan::make gives it: each test names a reason for a place in the order.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>

#include "base/error.hpp"
#include "oci/write.hpp"
#include "plan/plan.hpp"

namespace tare::plan {
namespace {

facts::Facts machine() {
  facts::Facts facts;
  facts.kernel = {6, 8};
  facts.cgroups.layout = facts::CgroupLayout::v2;
  return facts;
}

Options options() {
  Options o;
  o.rootfs = "/bundle/rootfs";
  o.bundle = "/bundle";
  o.id = "web1";
  return o;
}

oci::Spec spec() {
  auto s = oci::default_spec(false);
  s.process->terminal = false;
  return s;
}

// Index of the first (or last) operation of that code; -1 where there is none.
int first(const Plan& plan, Code code) {
  const auto at = std::find_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) { return op.code == code; });
  return at == plan.ops.end() ? -1 : static_cast<int>(at - plan.ops.begin());
}
int last(const Plan& plan, Code code) {
  for (int i = static_cast<int>(plan.ops.size()) - 1; i >= 0; --i)
    if (plan.ops[static_cast<std::size_t>(i)].code == code) return i;
  return -1;
}

void expect_order(const Plan& plan, std::initializer_list<Code> codes) {
  int before = -1;
  for (const Code code : codes) {
    const int at = first(plan, code);
    ASSERT_GE(at, 0) << "operation " << static_cast<int>(code) << " is missing";
    EXPECT_LT(before, at) << "operation " << static_cast<int>(code) << " comes too early";
    before = last(plan, code);
  }
}

TEST(PlanOrder, DefaultContainer) {
  const Plan plan = make(spec(), machine(), options());
  ASSERT_EQ(plan.outer.size(), 1U);
  EXPECT_EQ(plan.outer[0].code, Code::undumpable);
  expect_order(plan, {Code::set_propagation,   Code::open_root,           Code::mount_fs,
                      Code::make_device,       Code::make_symlink,        Code::mask_path,
                      Code::read_only_path,    Code::set_root_attributes, Code::pivot,
                      Code::assert_root,       Code::bring_up_loopback,   Code::set_hostname,
                      Code::reset_signals,     Code::close_descriptors,   Code::drop_bounding,
                      Code::become_user,       Code::set_capabilities,    Code::set_umask,
                      Code::no_new_privileges, Code::report_ready,        Code::exec_program});
  EXPECT_EQ(plan.ops.back().code, Code::exec_program);
  EXPECT_EQ(plan.clone_flags & (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS),
            static_cast<std::uint64_t>(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS));
  EXPECT_TRUE(plan.share_memory);
}

TEST(PlanOrder, MountsStandInTheirListedOrder) {
  auto s = spec();
  s.mounts = {{"/proc", "proc", "proc", {}, {}, {}},
              {"/data", "bind", "/srv", {"bind", "ro"}, {}, {}},
              {"/data/cache", "tmpfs", "tmpfs", {"size=1m"}, {}, {}}};
  const Plan plan = make(s, machine(), options());
  std::vector<std::string> places;
  for (const Op& op : plan.ops)
    if (op.code == Code::mount_fs || op.code == Code::mount_bind) places.emplace_back(op.mount.dest);
  EXPECT_EQ(places, (std::vector<std::string>{"/proc", "/data", "/data/cache"}));
}

TEST(PlanOrder, CgroupsAreJoinedBeforeTheirNamespaceIsMade) {
  auto s = spec();
  s.linux_.namespaces.push_back({oci::NamespaceType::cgroup, ""});
  auto o = options();
  o.cgroup_join_files = {"/sys/fs/cgroup/memory/web1/tasks"};
  const Plan plan = make(s, machine(), o);
  // The outer operations are done first of all.
  ASSERT_EQ(plan.outer.size(), 2U);
  EXPECT_EQ(plan.outer[0].code, Code::join_cgroup);
  EXPECT_STREQ(plan.outer[0].text.a, "/sys/fs/cgroup/memory/web1/tasks");
  const int unshare = first(plan, Code::unshare_namespaces);
  ASSERT_GE(unshare, 0);
  EXPECT_EQ(plan.ops[static_cast<std::size_t>(unshare)].number.value, CLONE_NEWCGROUP);
  EXPECT_EQ(plan.clone_flags & CLONE_NEWCGROUP, 0U) << "made by clone its root would be where the caller is";
}

TEST(PlanOrder, InAUserNamespaceSourcesAreOpenedBeforeTheProcessIsRootThere) {
  auto s = spec();
  s.linux_.namespaces.push_back({oci::NamespaceType::user, ""});
  s.linux_.uid_mappings = s.linux_.gid_mappings = {{0, 100000, 65536}};
  s.mounts.push_back({"/data", "bind", "/srv", {"rbind"}, {}, {}});
  auto ordinary = machine();
  ordinary.euid = 1000;
  const Plan plan = make(s, ordinary, options());
  EXPECT_TRUE(plan.outer.empty()) << "its parent could not write the maps";
  expect_order(plan, {Code::wait_for_maps, Code::undumpable, Code::open_source, Code::become_root, Code::open_root,
                      Code::mount_bind, Code::bind_device});
  EXPECT_EQ(first(plan, Code::make_device), -1) << "mknod is refused in a user namespace";
  const auto& bind = plan.ops[static_cast<std::size_t>(last(plan, Code::mount_bind))].mount;
  EXPECT_EQ(bind.slot, 0);
  EXPECT_EQ(plan.n_slots, 1);
}

TEST(PlanOrder, AFilterComesLastWithNoNewPrivilegesAndBeforeTheUserWithout) {
  const std::vector<sock_filter> filter(3);
  auto o = options();
  o.seccomp = &filter;
  auto s = spec();
  s.process->no_new_privileges = true;
  const Plan with = make(s, machine(), o);
  expect_order(with, {Code::set_capabilities, Code::no_new_privileges, Code::load_seccomp, Code::report_ready});
  s.process->no_new_privileges = false;
  const Plan without = make(s, machine(), o);
  expect_order(without, {Code::close_descriptors, Code::load_seccomp, Code::drop_bounding, Code::become_user});
}

TEST(PlanOrder, HooksOfTheRuntimeRunWithMountsInPlaceAndTheRootStillWritable) {
  auto s = spec();
  s.hooks.create_runtime.push_back({"/bin/hook", {}, {}, {}});
  s.hooks.create_container.push_back({"/bin/inner", {}, {}, {}});
  s.hooks.start_container.push_back({"/bin/last", {}, {}, {}});
  auto o = options();
  o.wait_for_start = true;
  const Plan plan = make(s, machine(), o);
  expect_order(plan, {Code::mount_fs, Code::wait_for_hooks, Code::mask_path, Code::set_root_attributes, Code::pivot});
  const int inner = first(plan, Code::run_hook);
  EXPECT_GT(inner, first(plan, Code::wait_for_hooks));
  EXPECT_LT(inner, first(plan, Code::pivot));
  EXPECT_STREQ(plan.ops[static_cast<std::size_t>(inner)].hook.path, "/bin/inner");
  const int start = last(plan, Code::run_hook);
  EXPECT_GT(start, first(plan, Code::wait_for_start));
  EXPECT_STREQ(plan.ops[static_cast<std::size_t>(start)].hook.path, "/bin/last");
}

TEST(PlanOrder, TheProgramIsLookedForBeforeCreateReturns) {
  auto o = options();
  o.wait_for_start = true;
  const Plan plan = make(spec(), machine(), o);
  expect_order(plan,
               {Code::become_user, Code::find_program, Code::report_ready, Code::wait_for_start, Code::exec_program});
}

TEST(PlanOrder, AReadOnlyDevBecomesSoOnlyWhenItIsFurnished) {
  auto s = spec();
  s.root.readonly = false;
  for (auto& mount : s.mounts)
    if (mount.destination == "/dev") mount.options.push_back("ro");
  const Plan plan = make(s, machine(), options());
  const int late = first(plan, Code::set_root_attributes);
  ASSERT_GE(late, 0);
  EXPECT_STREQ(plan.ops[static_cast<std::size_t>(late)].mount.dest, "/dev");
  EXPECT_GT(late, last(plan, Code::make_device));
  for (const Op& op : plan.ops) {
    if (op.code != Code::mount_fs || std::string_view(op.mount.dest) != "/dev") continue;
    EXPECT_EQ(op.mount.sb_flags & MS_RDONLY, 0U);
  }
}

TEST(PlanOrder, ABoundDevIsLeftAlone) {
  auto s = spec();
  s.mounts = {{"/dev", "bind", "/dev", {"rbind"}, {}, {}}};
  const Plan plan = make(s, machine(), options());
  EXPECT_EQ(first(plan, Code::make_device), -1);
  EXPECT_EQ(first(plan, Code::make_symlink), -1);
}

TEST(PlanOrder, OldKernelsEnterATimeNamespaceWithMemoryOfTheirOwn) {
  auto s = spec();
  s.linux_.namespaces.push_back({oci::NamespaceType::time, ""});
  s.linux_.boottime_offset = oci::TimeOffset{7, 0};
  auto facts = machine();
  EXPECT_TRUE(make(s, facts, options()).share_memory);
  facts.kernel = {6, 1};
  const Plan plan = make(s, facts, options());
  EXPECT_FALSE(plan.share_memory);
  const auto& op = plan.ops[static_cast<std::size_t>(first(plan, Code::write_time_offsets))];
  EXPECT_STREQ(op.text.a, "boottime 7 0\n");
  EXPECT_STREQ(op.text.b, "enter");
}

TEST(PlanRefusals, NameTheField) {
  auto s = spec();
  s.mounts.push_back({"/data", "bind", "/srv", {"bind", "idmap"}, {{0, 1000, 1}}, {{0, 1000, 1}}});
  try {
    make(s, machine(), options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.text().find("mounts["), std::string::npos) << error.text();
  }
  auto no_mounts = spec();
  std::erase_if(no_mounts.linux_.namespaces, [](const auto& n) { return n.type == oci::NamespaceType::mount; });
  EXPECT_THROW(make(no_mounts, machine(), options()), Error);
}

TEST(PlanDescribe, HasWordsForEveryOperation) {
  auto s = spec();
  s.process->terminal = true;
  s.process->rlimits = {{7, 10, 20}};
  s.linux_.sysctl = {{"net.ipv4.ip_forward", "1"}};
  s.linux_.devices.push_back({'c', "/dev/fuse", 10, 229, {}, {}, {}});
  s.hooks.create_container.push_back({"/bin/inner", {}, {}, {}});
  const Plan plan = make(s, machine(), options());
  for (const Op& op : plan.ops) EXPECT_NE(describe(op), "an operation") << static_cast<int>(op.code);
  bool sysctl = false;
  for (const Op& op : plan.ops) sysctl = sysctl || describe(op).find("linux.sysctl[\"net.ipv4.ip_forward\"]") == 0;
  EXPECT_TRUE(sysctl);
}

TEST(PlanArena, StringsStayWhereTheyAreWhenThePlanMoves) {
  Plan plan;
  std::vector<const char*> kept;
  for (int i = 0; i < 5000; ++i) kept.push_back(plan.keep("number " + std::to_string(i)));
  kept.push_back(plan.keep(std::string(100000, 'x')));
  const Plan moved = std::move(plan);
  EXPECT_STREQ(kept[4321], "number 4321");
  EXPECT_EQ(std::string_view(kept.back()).size(), 100000U);
}

}  // namespace
}  // namespace tare::plan
