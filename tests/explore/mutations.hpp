// The mutation check: does anybody notice when a memory order is weaker than the sources say?
//
// Every operation on an atomic object that the scenarios come across is weakened in each way that makes sense, one at a
// time, and the scenarios that use it are explored until one fails: first those that noticed it when the table was made
// before. What nobody notices has to be explained by the tag beside the operation.
#pragma once

#include <string>

#include "exploration.hpp"
#include "scenario.hpp"

namespace filch::explore {

/// Explores all mutations, and writes the table of results as Markdown.
/// @param how   the time is for each mutation: once for those that noticed it before, once for all
/// @param file  the table; what it says already is used
/// @param only  tags to look at, the rows of others stay as they are; all when empty
/// @returns 1 when a mutation survived whose tag does not say why it may, else 0.
/// @throws std::invalid_argument for a tag that no operation has.
int explore_mutations(const scenario_list& chosen, const plan& how, const std::string& file,
                      const std::vector<std::string>& only);

/// Says which operations of the scenarios have no row in the table, and which rows have no operation any more.
/// @returns 1 if there are any, else 0.
int check_mutations(const scenario_list& chosen, const std::string& file);

/// Explores the program with one of a few damages that have names. Succeeds (0) when that fails.
/// @throws std::invalid_argument for an unknown name.
int explore_planted(const std::string& name, const plan& how);
[[nodiscard]] std::string planted_names();

}  // namespace filch::explore
