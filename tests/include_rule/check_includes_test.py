"""Plants violations in a small tree and expects scripts/check_includes.py to find each of them, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import check_includes  # noqa: E402  (found through the line above)

CLEAN_TREE = {
    "include/filch/config.hpp": "#pragma once\n#ifdef __x86_64__\n#endif\n",
    "include/filch/fork_join.hpp": "#pragma once\n#include <atomic>\n#include <filch/config.hpp>\n"
    "#include <filch/platform/memory.hpp>\n",
    "include/filch/detail/task.hpp": "#pragma once\nstruct task { platform::local<slot*> head; };\n"
    "slot* f(task& t) { return t.head.load(); }\n",
    "src/platform/native/filch/platform/memory.hpp": "#pragma once\n#if __linux__\n#endif\n",
    "src/trace/event.hpp": '#pragma once\n#include <filch/platform/memory.hpp>\n',
    "src/deque/split.hpp": '#pragma once\n#include <filch/platform/memory.hpp>\n#include "cell.hpp"\n',
    "src/deque/cell.hpp": "#pragma once\n// no #ifdef and no atomic_thread_fence, x.load() neither\n",
    "src/worker/worker.hpp": '#pragma once\n#include "deque/split.hpp"\n#include "trace/event.hpp"\n',
    "src/victim/nearest.hpp": '#pragma once\n#include "worker/worker.hpp"\n',
    "src/join/leapfrog.hpp": '#pragma once\n#include "worker/worker.hpp"\n',
    "src/policy/lace.cpp": '#include "join/leapfrog.hpp"\n#include "victim/nearest.hpp"\n'
    "int f() { return split.load(std::memory_order_acquire); }\n"
    "bool g() { return split.compare_exchange_weak(old, next(old),\n    order::acq_rel, order::relaxed); }\n",
    "bench/fib.cpp": "#include <filch/fork_join.hpp>\n",
    "tests/unit/split_test.cpp": '#include "deque/split.hpp"\nint f() { return x.load(); }\n',
}


class CheckIncludesTest(unittest.TestCase):
    def found(self, planted):
        """What is found in the clean tree with the planted files added."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (CLEAN_TREE | planted).items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(check_includes.violations(Path(folder)))

    def expect(self, place_and_rule, planted):
        found = self.found(planted)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(place_and_rule + ": "), found[0])

    def test_clean_tree_has_no_violation(self):
        self.assertEqual(self.found({}), [])

    def test_later_layer(self):
        self.expect("src/deque/bad.hpp:2: layers", {"src/deque/bad.hpp": '#pragma once\n#include "worker/worker.hpp"\n'})

    def test_folders_of_one_layer(self):
        self.expect("src/join/bad.hpp:1: layers", {"src/join/bad.hpp": '#include "victim/nearest.hpp"\n'})

    def test_relative_path_to_a_later_layer(self):
        self.expect("src/deque/bad.hpp:1: layers", {"src/deque/bad.hpp": '#include "../policy/lace.cpp"\n'})

    def test_trace_includes_platform_only(self):
        self.expect("src/trace/bad.hpp:1: layers", {"src/trace/bad.hpp": '#include "deque/split.hpp"\n'})

    def test_folder_without_layer(self):
        self.expect("src/misc/bad.hpp:1: layers", {"src/misc/bad.hpp": "#pragma once\n"})

    def test_public_header_includes_internal_one(self):
        self.expect("include/filch/bad.hpp:1: public", {"include/filch/bad.hpp": '#include "deque/split.hpp"\n'})

    def test_public_header_includes_other_library(self):
        self.expect("include/filch/bad.hpp:1: public", {"include/filch/bad.hpp": "#include <fmt/format.h>\n"})

    def test_adapter_includes_a_library_that_it_does_not_adapt(self):
        text = "#include <cereal/archives/binary.hpp>\n#include <fmt/format.h>\n"
        self.expect("include/filch/places_cereal.hpp:2: public", {"include/filch/places_cereal.hpp": text})
        self.expect("include/filch/places.hpp:1: public", {"include/filch/places.hpp": text.splitlines()[0]})

    def test_tool_includes_internal_header(self):
        self.expect("tools/filch/bad.cpp:1: public", {"tools/filch/bad.cpp": '#include "deque/split.hpp"\n'})

    def test_bench_includes_detail(self):
        self.expect("bench/bad.cpp:1: public", {"bench/bad.cpp": "#include <filch/detail/task.hpp>\n"})

    def test_bench_includes_platform(self):
        self.expect("bench/bad.cpp:1: public", {"bench/bad.cpp": "#include <filch/platform/memory.hpp>\n"})

    def test_condition(self):
        self.expect("bench/bad.cpp:3: conditions", {"bench/bad.cpp": "\n\n#  ifdef NDEBUG\n#endif\n"})

    def test_fence(self):
        text = "void f() { std::atomic_thread_fence(std::memory_order_seq_cst); }\n"
        self.expect("src/worker/bad.cpp:1: fences", {"src/worker/bad.cpp": text})

    def test_defaulted_order_of_load(self):
        self.expect("src/worker/bad.cpp:1: orders", {"src/worker/bad.cpp": "int f() { return a->load(); }\n"})

    def test_defaulted_order_of_store_over_lines(self):
        text = "void f() {\n  head_.store(\n    g(1));\n}\n"
        self.expect("include/filch/bad.hpp:2: orders", {"include/filch/bad.hpp": text})


if __name__ == "__main__":
    unittest.main()
