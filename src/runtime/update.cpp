#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "oci/merge.hpp"
#include "oci/validate.hpp"
#include "oci/write.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {
namespace {

// Hierarchies that the container joins for this update; it leaves them again unless the update is kept.
class Extended {
 public:
  Extended(const store::Record& record, const oci::Resources& change, pid_t init)
      : extra_(cgroup::extension(record.cgroups, host::cgroups(), change)) {
    homes_ = cgroup::homes_of(extra_, init);
  }
  Extended(const Extended&) = delete;
  ~Extended() {
    if (kept_) return;
    try {
      cgroup::give_back(extra_, homes_);
    } catch (const Error&) {
      // Already failing for a reason of its own, which is the one to tell.
    }
  }
  const cgroup::Location& location() const { return extra_; }
  bool empty() const { return extra_.entries.empty(); }
  void keep() { kept_ = true; }

 private:
  cgroup::Location extra_;
  std::vector<std::string> homes_;
  bool kept_ = false;
};

// Given back where the update fails: then the record is what it was.
class NewRecord {
 public:
  NewRecord(store::Slot& slot, const store::Record& old, std::string config)
      : slot_(slot), old_(old), config_(std::move(config)) {}
  NewRecord(const NewRecord&) = delete;
  ~NewRecord() {
    if (!written_) return;
    try {
      slot_.write_record(old_, config_);
    } catch (const Error&) {
      // Already failing for a reason of its own, which is the one to tell.
    }
  }
  void write(const store::Record& record, std::string_view config) {
    written_ = true;
    slot_.write_record(record, config);
  }
  const std::string& old_config() const { return config_; }
  void keep() { written_ = false; }

 private:
  store::Slot& slot_;
  const store::Record& old_;
  std::string config_;
  bool written_ = false;
};

}  // namespace

void update(const Context& context, const std::string& id, const oci::Resources& resources) {
  with_intent(cat("update ", id), [&] {
    Found found = find(context, id, true);
    const auto status = found.status();
    if (status != Status::running && status != Status::created && status != Status::paused)
      throw Error(ErrorKind::conflict, cat("container not running: it is ", status_name(status)));
    oci::validate_resources(resources);
    oci::Resources change = oci::given(resources);
    if (change == oci::Resources{}) return;
    oci::Spec spec = kept_spec(found.slot);
    const oci::Resources before = spec.linux_.resources.value_or(oci::Resources{});
    change = oci::completed(std::move(change), before);
    spec.linux_.resources = oci::merged(before, change);
    oci::validate_resources(*spec.linux_.resources);

    const pid_t init = found.init->pid;
    NewRecord kept(found.slot, *found.record, found.slot.read_config());
    store::Record record = *found.record;
    Extended extended(record, change, init);
    if (!extended.empty()) {
      record.cgroups.entries.insert(record.cgroups.entries.end(), extended.location().entries.begin(),
                                    extended.location().entries.end());
      // Before anything is in there: whatever happens now, delete knows of them.
      kept.write(record, kept.old_config());
      cgroup::adopt(extended.location(), found.record->cgroups, init);
    }
    const cgroup::Pinned held = held_cgroups(found, record.cgroups);
    held.use([&](const cgroup::Location& cgroups) {
      cgroup::Update limits(cgroups, change);
      kept.write(record, oci::write_spec(spec));
      limits.keep();
    });
    kept.keep();
    extended.keep();
  });
}

}  // namespace tare::runtime
