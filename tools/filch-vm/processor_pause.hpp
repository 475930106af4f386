// The instruction that processors have for waiting loops. One source file per architecture.
#pragma once

namespace filch::cli {

void processor_pause() noexcept;

}  // namespace filch::cli
