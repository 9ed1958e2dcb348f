// A Record as JSON and back. Unknown members are ignored, so that a newer tare may add some.
#pragma once

#include "store/store.hpp"

namespace tare::store {

std::string to_json(const Record& record);
// Throws invalid_spec where it can't be read, unsupported where a newer, incompatible tare wrote it.
Record record_from_json(std::string text, const std::string& name);

}  // namespace tare::store
