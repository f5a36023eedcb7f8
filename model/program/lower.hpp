#pragma once

#include <span>

#include "model/program/program.hpp"

/// The two steps that make a program. Internal to model/program.
namespace mansard::model {

/// Fills nodes, functions, loops and roots; every symbol goes to `fixed_symbols`, unsorted.
void lower(std::span<const ir::Expr> roots, Program& program);

/// Gives every node its level and loop, sorts the symbols by level, and lays out the slots.
void place(const Program::Symbols& symbols, Program& program);

}  // namespace mansard::model
