// Everything of filch.
#pragma once

#include <filch/adaptive.hpp>
#include <filch/bag.hpp>
#include <filch/blocked_range.hpp>
#include <filch/blocking.hpp>
#include <filch/combinations.hpp>
#include <filch/feeder.hpp>
#include <filch/for_each_dynamic.hpp>
#include <filch/fork_join.hpp>
#include <filch/future.hpp>
#include <filch/loop.hpp>
#include <filch/parallel_for.hpp>
#include <filch/parallel_invoke.hpp>
#include <filch/parallel_reduce.hpp>
#include <filch/parallel_scan.hpp>
#include <filch/parallel_sort.hpp>
#include <filch/parallel_transform_reduce.hpp>
#include <filch/repeated.hpp>
#include <filch/scheduler.hpp>
#include <filch/statistics.hpp>
#include <filch/task_group.hpp>
#include <filch/topology.hpp>
#include <filch/unit.hpp>
#include <filch/work_bag.hpp>
#include <filch/worker_local.hpp>
