// What a pipeline keeps of its items apart from their values: which are free, who may enter a stage, and what went wrong.
// docs/protocols/pipeline.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <filch/config.hpp>
#include <filch/platform/memory.hpp>

namespace filch::detail {

enum class stage_order : std::uint8_t { parallel, serial, in_order };

struct pipeline_item {
  std::uint64_t number = 0;                        ///< in the order of the source
  std::uint64_t position = 0;                      ///< in the row before the stage that it is at
  platform::shared<pipeline_item*> next{nullptr};  ///< free
};

/// Thread safety: all threads. The source, and each stage that is not parallel, has one thread inside.
class FILCH_API pipeline_flow {
 public:
  pipeline_flow(std::size_t most_items, std::size_t stages);
  ~pipeline_flow();
  pipeline_flow(const pipeline_flow&) = delete;
  pipeline_flow& operator=(const pipeline_flow&) = delete;

  /// Who makes a pipeline hands over its items, all free.
  void add(pipeline_item& i) noexcept;

  /// A task begins that was added because end_source() or recycle() said so.
  void begin_feeder() noexcept;
  /// A free item, and the caller is in the source; null: it may not be, at present or any more.
  [[nodiscard]] pipeline_item* begin_source() noexcept;
  /// The source has given a value for it. `adds`: the caller can add a task that goes on with the source. Whether it is to.
  [[nodiscard]] bool end_source(pipeline_item& i, bool adds) noexcept;
  /// The item is free. `adds`: the caller can add a task that looks at the source, and will not look soon itself. Whether it
  /// is to.
  [[nodiscard]] bool recycle(pipeline_item& i, bool adds) noexcept;

  /// False: the item is left there.
  [[nodiscard]] bool enter(std::size_t stage, stage_order order, pipeline_item& i) noexcept;
  /// Who may enter now, and is left there; null: nobody.
  [[nodiscard]] pipeline_item* leave(std::size_t stage, stage_order order, const pipeline_item& i) noexcept;

  /// The exception in flight is that of the item, or of the source.
  void fail(const pipeline_item& i) noexcept;
  void fail_source() noexcept;
  /// Has this item, or one before it, failed?
  [[nodiscard]] bool skips(const pipeline_item& i) const noexcept;
  /// When all is over.
  void rethrow();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace filch::detail
