#include "store/record.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace tare::store {
namespace {

constexpr std::string_view kLayouts[] = {"none", "v1", "v2", "hybrid"};

void write_cgroups(json::Writer& writer, const cgroup::Location& location) {
  writer.key("cgroups").begin_object();
  writer.key("layout").string(kLayouts[static_cast<std::size_t>(location.layout)]);
  writer.key("entries").begin_array();
  for (const auto& entry : location.entries) {
    writer.begin_object();
    writer.key("mountPoint").string(entry.mount_point);
    writer.key("path").string(entry.path);
    writer.key("controllers").strings(entry.controllers);
    if (entry.v2) writer.key("v2").boolean(true);
    if (!entry.root.empty()) writer.key("root").string(entry.root);
    writer.key("made").number(entry.made);
    writer.end_object();
  }
  writer.end_array().end_object();
}

cgroup::Location read_cgroups(const json::Field& field) {
  cgroup::Location location;
  const auto layout = field.member("layout");
  for (std::size_t i = 0; i < std::size(kLayouts); ++i)
    if (layout.string_view() == kLayouts[i]) location.layout = static_cast<facts::CgroupLayout>(i);
  const auto entries = field.member("entries");
  for (std::size_t i = 0; i < entries.array().size(); ++i) {
    const auto e = entries.at(i);
    cgroup::Entry entry;
    entry.mount_point = e.member("mountPoint").string();
    entry.path = e.member("path").string();
    entry.controllers = e.member("controllers").strings();
    if (const auto v2 = e.member("v2")) entry.v2 = v2.boolean();
    if (const auto root = e.member("root")) entry.root = root.string();
    entry.made = static_cast<int>(e.member("made").int64(0, 4096));
    location.entries.push_back(std::move(entry));
  }
  return location;
}

}  // namespace

std::string to_json(const Record& record) {
  json::Writer writer;
  writer.begin_object();
  writer.key("version").number(record.version);
  writer.key("ociVersion").string(record.oci_version);
  writer.key("id").string(record.id);
  writer.key("bundle").string(record.bundle);
  writer.key("rootfs").string(record.rootfs);
  writer.key("created").string(record.created);
  writer.key("owner").number(record.owner);
  writer.key("annotations").begin_object();
  for (const auto& [key, value] : record.annotations) writer.key(key).string(value);
  writer.end_object();
  write_cgroups(writer, record.cgroups);
  writer.end_object();
  return writer.take();
}

Record record_from_json(std::string text, const std::string& name) {
  const json::Document document(std::move(text), name);
  const auto root = document.root();
  Record record;
  record.version = static_cast<int>(root.member("version").int64());
  if (record.version > kVersion)
    throw Error(ErrorKind::unsupported,
                cat(name, ": written by a newer tare (version ", record.version, " of the state)"));
  record.oci_version = root.member("ociVersion").string();
  record.id = root.member("id").string();
  record.bundle = root.member("bundle").string();
  record.rootfs = root.member("rootfs").string();
  record.created = root.member("created").string();
  record.owner = static_cast<uid_t>(root.member("owner").uint64(UINT32_MAX));
  const auto annotations = root.member("annotations");
  for (std::size_t i = 0; i < annotations.object().size(); ++i) {
    const auto member = annotations.member_at(i);
    record.annotations.emplace(std::string(member.key()), member.string());
  }
  record.cgroups = read_cgroups(root.member("cgroups"));
  return record;
}

}  // namespace tare::store
