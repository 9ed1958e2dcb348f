// What each design is, by its own code: bytes of a pid, and loads from memory that a question takes.
#include "lab/pidspace/rows.hpp"

#include <nlohmann/json.hpp>

#include "pidspace/pidspace.hpp"

namespace tare::lab {

namespace {

namespace ps = tare::pidspace;

template <template <class> class Design>
Row row(int level) {
  using D = Design<ps::Counted>;
  Row out;
  if (level > D::kLevel) return out;
  const ps::rcu::Thread thread;
  ps::Space<D> space;
  auto* ns = &space.first();
  for (int i = 0; i < level; ++i) ns = *space.create(*ns);
  const auto* const pid = *space.allocate(*ns);
  const ps::rcu::Section section;
  const auto count = [&](const auto& ask) {
    const std::uint64_t before = ps::Counted::loads;
    ask();
    return static_cast<int>(ps::Counted::loads - before);
  };
  out.bytes = static_cast<int>(space.bytes(level));
  out.root = count([&] { (void)space.nr(*pid); });
  out.own = count([&] { (void)space.vnr(*pid); });
  out.any = count([&] { (void)space.nr_in(*pid, *ns); });
  out.find = count([&] { (void)space.find(1, *ns); });
  return out;
}

}  // namespace

Row pidspace_row(std::size_t design, int level) {
  switch (design) {
    case 0:
      return row<ps::None>(level);
    case 1:
      return row<ps::Flat>(level);
    case 2:
      return row<ps::List>(level);
    case 3:
      return row<ps::Hash>(level);
    case 4:
      return row<ps::Fixed<4>::Of>(level);
    case 5:
      return row<ps::Fixed<5>::Of>(level);
    default:
      return row<ps::Kernel>(level);
  }
}

}  // namespace tare::lab
