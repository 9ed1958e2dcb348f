// tare weigh pidspace. Gives the exit status; throws usage, child, kernel.
#pragma once

#include <string>
#include <vector>

namespace tare::lab {

int weigh_pidspace(const std::vector<std::string>& args);

}  // namespace tare::lab
