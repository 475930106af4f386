// The environment of a program whose results are a function of its command line and its files.
#pragma once

namespace filch::cli {

/// Removes all variables that begin with FILCH_: with them the library fills in what its options leave open, here as in
/// programs that are run from here. For the beginning of main, before there are threads.
void forget_settings();

}  // namespace filch::cli
