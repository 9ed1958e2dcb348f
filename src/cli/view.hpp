// What pid, ps, tree, top and enter share: whom a word means, and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "cli/commands.hpp"
#include "nsview/names.hpp"
#include "nsview/snapshot.hpp"

namespace tare::cli {

// tare's own containers, by their records. Those that can't be read are left out.
std::vector<nsview::Known> known_containers(const Session& session);

// Whether a word means this container: its id, its name, or the beginning of its id (4 characters and more).
bool means(std::string_view word, const nsview::ContainerKey& key, std::string_view name);

// The process that "ID|PID" means: a number is a process; anything else is a container of tare or of an engine, and its
// first process is meant. Throws not_found, conflict where two are meant.
pid_t process_meant(const Session& session, std::string_view word);

// --format of table or json.
bool wants_json(const Parsed& parsed);

// `ps CONTAINER [PS-OPTION...]` as runc has it: the lines of ps(1), or the pids as JSON.
int ps_of_container(const Session& session, const Parsed& parsed);

// Rows of text, in columns as wide as they have to be; the last is as long as it is.
class Table {
 public:
  struct Column {
    std::string head;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // width: cut lines there; 0: don't.
  std::string text(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How wide the terminal at stdout is; 0 where it is none.
std::size_t terminal_width();

// "web" or, without a name, the beginning of the id; "-" for none.
std::string short_name(const nsview::ContainerKey* key, const std::string& name);

// {"engine": ..., "id": ..., "name": ...}, or null.
void write_container(json::Writer& writer, const nsview::ContainerKey* key, const std::string& name);

}  // namespace tare::cli
