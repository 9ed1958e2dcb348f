#include "plan/plan.hpp"

#include <cstring>

namespace tare::plan {

// Chunks that never move, so that what points into them stays right when the plan itself moves.
struct Plan::Arena {
  static constexpr std::size_t kChunk = 8192;
  std::vector<std::unique_ptr<char[]>> chunks;
  std::size_t used = kChunk;

  void* take(std::size_t size) {
    // Nothing gets a place too: with a size of 0 the first take would find no chunk.
    size = ((size == 0 ? 1 : size) + 15) & ~std::size_t{15};
    if (size > kChunk / 4) {  // a chunk of its own, behind the current one
      chunks.insert(chunks.begin(), std::unique_ptr<char[]>(new char[size]));
      return chunks.front().get();
    }
    if (used + size > kChunk) {
      chunks.emplace_back(new char[kChunk]);
      used = 0;
    }
    void* place = chunks.back().get() + used;
    used += size;
    return place;
  }
};

Plan::Plan() : arena_(std::make_unique<Arena>()) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

const void* Plan::keep_bytes(const void* bytes, std::size_t size) {
  void* place = arena_->take(size);
  if (size > 0) std::memcpy(place, bytes, size);
  return place;
}

const char* Plan::keep(std::string_view text) {
  char* place = static_cast<char*>(arena_->take(text.size() + 1));
  if (!text.empty()) std::memcpy(place, text.data(), text.size());
  place[text.size()] = '\0';
  return place;
}

const char* const* Plan::keep(const std::vector<std::string>& texts) {
  auto** list = static_cast<const char**>(arena_->take((texts.size() + 1) * sizeof(char*)));
  for (std::size_t i = 0; i < texts.size(); ++i) list[i] = keep(texts[i]);
  list[texts.size()] = nullptr;
  return list;
}

}  // namespace tare::plan
