// The places that have names.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/model/model.hpp"
#include "lab/model/take.hpp"

namespace tare::lab {

namespace {

using Names = std::vector<std::string>;

constexpr const char* kNamespaces[] = {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time"};
constexpr int kDepths[] = {1, 2, 4, 8, 16, 31};
constexpr int kSiblings[] = {1, 4, 16};

Place bare() { return {"bare", Role::reference, PlaceKind::bare, {}, 0}; }
Place control() { return {"A/A", Role::control, PlaceKind::bare, {}, 0}; }
Place container() { return {"container", Role::subject, PlaceKind::container, {}, 0}; }

Place layer(std::string name, Names namespaces = {}, std::string against = {}) {
  Place p{name, Role::subject, PlaceKind::layer, std::move(namespaces), 0};
  p.layer = std::move(name);
  p.against = std::move(against);
  return p;
}

void add_namespaces(std::vector<Place>& out) {
  for (const char* name : kNamespaces) out.push_back({name, Role::subject, PlaceKind::namespaces, {name}, 0});
}

void add_layers(std::vector<Place>& out) {
  out.push_back(layer("cgroup-deeper"));
  out.push_back(layer("limits"));
  out.push_back(layer("limits-default"));
  for (const int rules : {0, 20, 400}) {
    Place p = layer(cat("seccomp-", rules));
    p.layer = "seccomp";
    p.amount = rules;
    p.axis = "seccomp rules";
    out.push_back(std::move(p));
  }
  for (const char* name : {"seccomp-default", "caps", "no-new-privs"}) out.push_back(layer(name));
  // Each stands upon the one before it that it is compared to.
  out.push_back(layer("bind", {"mnt"}, "mnt"));
  out.push_back(layer("ro-bind", {"mnt"}, "bind"));
  out.push_back(layer("idmap", {"mnt"}, "bind"));
  out.push_back(layer("overlay", {"mnt"}, "mnt"));
  out.push_back(layer("mounts", {"mnt"}, "overlay"));
  out.push_back(layer("masked", {"mnt"}, "mounts"));
  for (const char* name : {"veth", "bridge", "macvlan"}) out.push_back(layer(name, {"net"}, "net"));
}

void add_depths(std::vector<Place>& out, const std::string& name) {
  for (const int depth : kDepths) {
    Place p{cat(name, "-", depth), Role::subject, PlaceKind::nested, {name}, 0};
    p.amount = depth;
    p.axis = cat(name, " depth");
    // What each depth has more of forks is equal for all, and lab/place/chain.hpp says why they differ.
    p.forks = name == "pid" ? 2 : 1;
    p.against = name == "pid" ? "bare+2" : "joined";
    out.push_back(std::move(p));
  }
}

void add_siblings(std::vector<Place>& out) {
  for (const char* how : {"idle", "busy"}) {
    for (const int n : kSiblings) {
      Place p{cat("siblings-", how, "-", n), Role::subject, PlaceKind::siblings, {}, 0};
      p.layer = how;
      p.amount = n;
      p.axis = cat(how, " siblings");
      p.against = "container";
      out.push_back(std::move(p));
    }
  }
}

// How many forks more than bare's one lie between the laboratory and the worker: tests/lab/places.bats counts them.
struct Foreign {
  const char* name;
  int forks;
};
constexpr Foreign kForeign[] = {{"crun", 1}, {"runc", 3}, {"bwrap", 1}, {"unshare", 1}, {"podman", 4}};

void add_foreign(std::vector<Place>& out) {
  for (const Foreign& program : kForeign) {
    Place p{program.name, Role::subject, PlaceKind::foreign, {}, 0};
    p.layer = program.name;
    p.forks = program.forks;
    p.against = cat("bare+", program.forks);
    out.push_back(std::move(p));
  }
}

// What others are compared to, and nobody asks for by itself.
void add_bases(std::vector<Place>& out) {
  Place joined{"joined", Role::subject, PlaceKind::bare, {}, 0};
  joined.layer = "joined";
  joined.forks = 1;
  out.push_back(std::move(joined));
  for (const int forks : {1, 2, 3, 4}) {
    Place p{cat("bare+", forks), Role::subject, PlaceKind::bare, {}, 0};
    p.forks = forks;
    out.push_back(std::move(p));
  }
}

std::vector<Place> all_places() {
  std::vector<Place> out;
  add_namespaces(out);
  add_layers(out);
  out.push_back(container());
  add_bases(out);
  add_depths(out, "pid");
  add_depths(out, "user");
  add_siblings(out);
  add_foreign(out);
  return out;
}

Names names_of(const std::vector<Place>& places, auto&& wanted) {
  Names out;
  for (const Place& p : places) {
    if (wanted(p)) out.push_back(p.name);
  }
  return out;
}

constexpr const char* kGroups[] = {"default",    "namespaces", "layers",  "pid-depth",
                                   "user-depth", "siblings",   "foreign", "all"};

// The names that a group stands for; empty: it is no group.
Names members(const std::vector<Place>& known, const std::string& group) {
  const auto of_kind = [&](PlaceKind kind) { return names_of(known, [&](const Place& p) { return p.kind == kind; }); };
  const auto of_axis = [&](const char* axis) {
    return names_of(known, [&](const Place& p) { return p.axis == axis; });
  };
  if (group == "default") {
    return names_of(default_places(), [](const Place& p) { return p.role == Role::subject; });
  }
  if (group == "namespaces") return of_kind(PlaceKind::namespaces);
  if (group == "layers") return of_kind(PlaceKind::layer);
  if (group == "pid-depth") return of_axis("pid depth");
  if (group == "user-depth") return of_axis("user depth");
  if (group == "siblings") return of_kind(PlaceKind::siblings);
  if (group == "foreign") return of_kind(PlaceKind::foreign);
  if (group == "all") return names_of(known, [](const Place&) { return true; });
  return {};
}

// After what it is compared to, once.
void add(std::vector<Place>& places, const std::vector<Place>& known, const std::string& name) {
  if (std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.name == name; })) return;
  Place place = take(known, name, "place");
  if (!place.against.empty()) add(places, known, place.against);
  places.push_back(std::move(place));
}

}  // namespace

std::vector<Place> default_places() {
  std::vector<Place> places{bare(), control()};
  add_namespaces(places);
  places.push_back(container());
  return places;
}

std::vector<Place> named_places(const std::vector<std::string>& names) {
  const std::vector<Place> known = all_places();
  std::vector<Place> places{bare(), control()};  // always there: what is divided by, and the control
  for (const std::string& name : names) {
    const Names group = members(known, name);
    try {
      for (const std::string& one : group.empty() ? Names{name} : group) add(places, known, one);
    } catch (Error& error) {
      throw Error(error.kind(), error.text())
          .hint(cat(error.hint(), "; groups: ", join({std::begin(kGroups), std::end(kGroups)}, ", ")));
    }
  }
  return places;
}

std::vector<Place> bill_places() {
  std::vector<Place> places = named_places({"namespaces", "overlay", "mounts", "masked", "caps", "no-new-privs",
                                            "seccomp-default", "limits-default", "container"});
  for (Place& p : places) {
    // Every item but these is a part of the default container.
    const bool part = p.name != "user" && p.name != "time" && p.kind != PlaceKind::container;
    p.bill = p.role == Role::subject && part;
  }
  return places;
}

void inject(std::vector<Place>& places, std::string_view what) {
  const auto wrong = [&]() -> Error {
    return Error(ErrorKind::usage, cat("--inject takes PLACE=PERCENT%, as in slowed=5%, not ", tare::quoted(what)));
  };
  const auto equals = what.find('=');
  if (equals == std::string_view::npos || equals == 0) throw wrong();
  const std::string name(what.substr(0, equals));
  std::string number(what.substr(equals + 1));
  if (!number.empty() && number.back() == '%') number.pop_back();
  char* end = nullptr;
  const double percent = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !(percent >= 0 && percent <= 1000)) throw wrong();
  const auto delay = static_cast<std::int64_t>(std::llround(percent * 100));
  for (Place& place : places) {
    if (place.name != name) continue;
    if (place.role != Role::subject) throw Error(ErrorKind::usage, cat("--inject: ", name, " must stay as it is"));
    place.delay = delay;
    return;
  }
  places.push_back({name, Role::subject, PlaceKind::bare, {}, delay});
}

}  // namespace tare::lab
