// pipeline: items that pass through stages, several at the same time, but not more than a bound.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <filch/config.hpp>
#include <filch/detail/pipeline_flow.hpp>
#include <filch/detail/worker_core.hpp>
#include <filch/task_group.hpp>
#include <filch/unit.hpp>

namespace filch {

/// A stage of a pipeline: what is done with an item, and whether with several at the same time.
template <class F>
struct pipeline_stage {
  F f;
  detail::stage_order order;
};

/// Several items at the same time.
template <class F>
[[nodiscard]] pipeline_stage<std::decay_t<F>> parallel(F&& f) {
  return {std::forward<F>(f), detail::stage_order::parallel};
}
/// One item at a time, as they come.
template <class F>
[[nodiscard]] pipeline_stage<std::decay_t<F>> serial(F&& f) {
  return {std::forward<F>(f), detail::stage_order::serial};
}
/// One item at a time, in the order in which the source has given them.
template <class F>
[[nodiscard]] pipeline_stage<std::decay_t<F>> serial_in_order(F&& f) {
  return {std::forward<F>(f), detail::stage_order::in_order};
}

namespace detail {

template <class F>
inline constexpr bool is_stage = false;
template <class F>
inline constexpr bool is_stage<pipeline_stage<F>> = true;

// A stage is handed on by reference. Of a function that takes and returns one by value gcc 12.2 believes, at -O1, that what the
// stage refers to does not come out of it, and its caller does not see what the stage has changed (fast_path.stale_values).
template <class F>
[[nodiscard]] decltype(auto) as_stage(F&& f) {
  if constexpr (is_stage<std::remove_cvref_t<F>>) {
    return static_cast<F&&>(f);
  } else {
    return filch::parallel(std::forward<F>(f));
  }
}

template <class F, class In>
concept takes_item = std::invocable<F&, In> || (std::same_as<In, unit> && std::invocable<F&>);

/// Calls a stage with an item; with nothing, if it takes nothing and the stage before gives nothing.
template <class F, class In>
  requires takes_item<F, In>
decltype(auto) call_stage(F& f, In&& in) {
  if constexpr (std::invocable<F&, In>) {
    return std::invoke(f, std::forward<In>(in));
  } else {
    return std::invoke(f);
  }
}

/// What a stage makes of an item of that type.
template <class F, class In>
struct stage_result_of {
  static_assert(
      takes_item<F, In>,
      "filch: pipeline(most_items, source, stages...): each stage is called with what the stage before gave, as an "
      "rvalue, or with nothing where that returns void");
  using type = unit;
};
template <class F, class In>
  requires takes_item<F, In>
struct stage_result_of<F, In> {
  using raw = decltype(detail::call_stage(std::declval<F&>(), std::declval<In>()));
  using type = std::conditional_t<std::is_void_v<raw>, unit, std::decay_t<raw>>;
};
template <class F, class In>
using stage_result = typename stage_result_of<F, In>::type;

/// The types of an item before each stage, and after the last.
template <class In, class... Fs>
struct item_types {
  using variant = std::variant<std::monostate, In>;
};
template <class In, class F, class... Rest>
struct item_types<In, F, Rest...> {
  template <class... Types>
  static std::variant<std::monostate, In, Types...> joined(std::variant<std::monostate, Types...>*);
  using variant = decltype(joined(static_cast<typename item_types<stage_result<F, In>, Rest...>::variant*>(nullptr)));
};

/// Gives a std::optional of an item, or what becomes one.
template <class Source>
concept item_source = requires {
  typename std::remove_cvref_t<std::invoke_result_t<Source&>>::value_type;
  requires std::convertible_to<std::invoke_result_t<Source&>,
                               std::optional<typename std::remove_cvref_t<std::invoke_result_t<Source&>>::value_type>>;
};
template <class Source>
inline constexpr bool is_item_source = item_source<Source>;

template <class Source, class... Fs>
class pipeline_run {
  using first_item = typename std::remove_cvref_t<std::invoke_result_t<Source&>>::value_type;
  static constexpr std::size_t stages = sizeof...(Fs);

 public:
  pipeline_run(std::size_t most_items, Source& source, std::tuple<pipeline_stage<Fs>&...> all)
      : source_(source), stages_(all), flow_(most_items, stages), items_(most_items) {
    for (item& each : items_) flow_.add(each);
  }

  void run() {
    group_.run([this] { feed(); });
    group_.wait();
    flow_.rethrow();
  }

 private:
  struct item : pipeline_item {
    /// Alternative i + 1: before stage i.
    typename item_types<first_item, Fs...>::variant value;
  };

  /// Makes items and goes on with each, for as long as it may be in the source.
  void feed() {
    while (auto* const i = static_cast<item*>(flow_.begin_source())) {
      if (!make(*i)) return;
      // Somebody else goes on with the source, while this worker does with the item.
      share_source(flow_.end_source(*i, can_add()));
      advance<0>(*i);
    }
  }
  /// On a full stack, as those of policy serial are, a feeder would run at once, and add another one, and so on.
  static bool can_add() {
    const worker_core& w = *self;
    return w.head.load() != w.end;
  }
  /// `wanted`: by a task that looks. Else there is one perhaps, and somebody has asked for it.
  void share_source(bool wanted) {
    if (wanted) {
      group_.run([this] {
        flow_.begin_feeder();
        feed();
      });
    } else if (self->must_attend(nullptr)) {
      attend(*self);
    }
  }
  /// False: there is nothing more.
  bool make(item& i) {
    try {
      if (std::optional<first_item> made = std::invoke(source_)) {
        i.value.template emplace<1>(std::move(*made));
        return true;
      }
    } catch (...) {
      flow_.fail_source();
    }
    return false;
  }

  template <std::size_t Stage>
  void advance(item& i) {
    if constexpr (Stage == stages) {
      recycle(i, false);
    } else {
      if (flow_.enter(Stage, std::get<Stage>(stages_).order, i)) run_stage<Stage>(i);
    }
  }
  void recycle(item& i, bool goes_on) {
    i.value.template emplace<0>();
    share_source(flow_.recycle(i, goes_on && can_add()));
  }

  /// Inside of the stage, if that is serial. Then this worker stays there while items come, and others go on with those that
  /// it lets go: what all items have to pass one after the other waits for nobody.
  template <std::size_t Stage>
  void run_stage(item& entered) {
    item* i = &entered;
    while (auto* const next = static_cast<item*>(work_on<Stage>(*i))) {
      if constexpr (Stage + 1 == stages) {
        recycle(*i, true);
      } else {
        group_.run([this, i] {
          advance<Stage + 1>(*i);
          feed();
        });
      }
      i = next;
    }
    advance<Stage + 1>(*i);
  }

  /// Who may enter the stage then, and is left there; null: nobody.
  template <std::size_t Stage>
  pipeline_item* work_on(item& i) {
    auto& stage = std::get<Stage>(stages_);
    if (!flow_.skips(i)) {
      try {
        using value = std::variant_alternative_t<Stage + 1, decltype(i.value)>;
        value in = std::move(std::get<Stage + 1>(i.value));
        if constexpr (std::is_void_v<decltype(detail::call_stage(stage.f, std::move(in)))>) {
          detail::call_stage(stage.f, std::move(in));
          i.value.template emplace<Stage + 2>();
        } else {
          i.value.template emplace<Stage + 2>(detail::call_stage(stage.f, std::move(in)));
        }
      } catch (...) {
        flow_.fail(i);
      }
    }
    return flow_.leave(Stage, stage.order, i);
  }

  Source& source_;
  std::tuple<pipeline_stage<Fs>&...> stages_;
  pipeline_flow flow_;
  std::vector<item> items_;
  task_group group_;
};

}  // namespace detail

/// Takes items from a source and passes each of them through all stages; returns when the source has no more and all items
/// have passed. Nobody waits inside: an item that may not enter a stage is left there, and whoever leaves the stage lets it
/// in, and stays.
///
///     filch::pipeline(16, [&]() -> std::optional<line> { return read(file); },
///                     filch::parallel([](line l) { return parse(l); }),
///                     filch::serial_in_order([&](const record& r) { write(r); }));
///
/// @param most_items  so many are on their way at the same time at most; 1 or more. A few times the number of workers.
/// @param source      source() -> std::optional of an item; none: that was all. Called by one worker at a time.
/// @param stages      made by parallel(), serial() or serial_in_order(), or a plain callable, which is a parallel one. Each is
///                    called with what the stage before gave, as an rvalue; where that gave nothing, with a unit, or with
///                    nothing.
/// @throws what the source or a stage throws; of several exceptions that of the earliest item. Items before it pass through
///         all stages, those after it perhaps not. std::invalid_argument if most_items is 0; std::bad_alloc, or
///         std::length_error, if there is no memory for so many.
/// @par Complexity memory for most_items items; at most a task for each item and stage.
template <class Source, class... Stages>
void pipeline(std::size_t most_items, Source&& source, Stages&&... stages) {
  static_assert(detail::is_item_source<std::remove_reference_t<Source>>,
                "filch: pipeline(most_items, source, stages...): the source takes nothing and returns a std::optional "
                "of an item; an "
                "empty one: that was all. For pointers that is a std::optional<T*>");
  if (most_items == 0) {
    throw std::invalid_argument("filch: '0' items at a time of a pipeline; use 1 or more");
  }
  if constexpr (detail::is_item_source<std::remove_reference_t<Source>>) {
    const auto run = [&]<class... Fs>(pipeline_stage<Fs>... all) {
      detail::pipeline_run<std::remove_reference_t<Source>, Fs...>(most_items, source, std::tie(all...)).run();
    };
    run(detail::as_stage(std::forward<Stages>(stages))...);
  }
}

}  // namespace filch
