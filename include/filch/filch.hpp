// Everything of filch.
#pragma once

#include <filch/combinations.hpp>
#include <filch/fork_join.hpp>
#include <filch/scheduler.hpp>
#include <filch/statistics.hpp>
#include <filch/task_group.hpp>
#include <filch/topology.hpp>
#include <filch/unit.hpp>
