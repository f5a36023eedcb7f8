#include "cli/views/op_kinds.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/views/csv.hpp"
#include "cli/views/formula.hpp"
#include "cli/views/json.hpp"
#include "cli/views/text_table.hpp"

namespace mansard::cli {
namespace {

using ir::OpDef;

constexpr std::size_t kIndent = 12;

std::string_view name_of(ir::Access access) {
  switch (access) {
    case ir::Access::kRead:
      return "read";
    case ir::Access::kWrite:
      return "write";
    case ir::Access::kReadWrite:
      return "read, write";
  }
  return "";
}

std::string_view name_of(ir::Role role) {
  switch (role) {
    case ir::Role::kActivation:
      return "activation";
    case ir::Role::kWeight:
      return "weight";
    case ir::Role::kKvCache:
      return "KV cache";
    case ir::Role::kState:
      return "state";
  }
  return "";
}

std::string_view name_of(ir::Engine engine) {
  switch (engine) {
    case ir::Engine::kMatrix:
      return "matrix";
    case ir::Engine::kVector:
      return "vector";
    case ir::Engine::kNone:
      break;
  }
  return "none";
}

/// A formula of a definition; "" if the kind has none or it is zero.
std::string formula(ir::Expr expression) {
  const bool nothing = !expression || (expression.is_constant() && expression.constant() == 0);
  return nothing ? "" : formula_text(expression);
}

std::string line(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<{}}{}", name, kIndent - 2, paragraph(text, kIndent));
}

std::string dims_text(const OpDef& kind) {
  std::string text;
  for (const ir::DimDef& dim : kind.dims) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", dim.name, dim.meaning);
    text +=
        dim.otherwise && *dim.otherwise != 0 ? fmt::format(" (default {})", *dim.otherwise) : "";
  }
  return text;
}

std::string operand_lines(const OpDef& kind) {
  TextTable table;
  for (int column = 0; column < 4; ++column) {
    table.column("", TextTable::Align::kLeft);
  }
  for (const ir::OperandDef& operand : kind.operands) {
    std::string touched = formula(operand.touched);
    touched += operand.touched_least ? ", at least " + formula(operand.touched_least) : "";
    table.row({operand.optional ? fmt::format("[{}]", operand.name) : std::string(operand.name),
               std::string(name_of(operand.access)), std::string(name_of(operand.role)), touched});
  }
  const std::string rows = table.render(kPageWidth - kIndent);
  std::string text;
  for (std::size_t begin = rows.find('\n') + 1; begin < rows.size();) {
    const std::size_t end = rows.find('\n', begin) + 1;
    text +=
        text.empty() ? fmt::format("  {:<{}}", "operands", kIndent - 2) : std::string(kIndent, ' ');
    text += rows.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

std::string description(const OpDef& kind) {
  return fmt::format("{}\n", kind.name) + line("computes", kind.semantics) +
         line("dims", dims_text(kind)) + operand_lines(kind) +
         line("engine", kind.engine == ir::Engine::kNone ? "" : name_of(kind.engine)) +
         line("FLOP", formula(kind.flops)) + line("vector", formula(kind.vector_flops)) +
         line("special", formula(kind.special_ops)) + line("link", formula(kind.link_elements)) +
         line("source", kind.source);
}

constexpr std::string_view kDefinitions =
    "operands: elements touched, [optional]; bytes follow from the dtype and its scales, twice "
    "where read "
    "and written; FLOP: contractions, 2 per multiply-add; vector: elementwise arithmetic; special: "
    "exp, "
    "rsqrt and the like, one each; link: elements a device sends to its peers";

Json json(const OpDef& kind) {
  Json dims = Json::array();
  for (const ir::DimDef& dim : kind.dims) {
    dims.push_back({{"name", dim.name}, {"meaning", dim.meaning}});
  }
  Json operands = Json::array();
  for (const ir::OperandDef& operand : kind.operands) {
    operands.push_back({{"name", operand.name},
                        {"access", name_of(operand.access)},
                        {"role", name_of(operand.role)},
                        {"elements", formula(operand.touched)},
                        {"optional", operand.optional}});
  }
  return {{"kind", kind.name},
          {"semantics", kind.semantics},
          {"engine", name_of(kind.engine)},
          {"dims", dims},
          {"operands", operands},
          {"flops", formula(kind.flops)},
          {"vector_flops", formula(kind.vector_flops)},
          {"special_ops", formula(kind.special_ops)},
          {"link_elements", formula(kind.link_elements)},
          {"source", kind.source}};
}

std::string csv(std::span<const OpDef> kinds) {
  std::string text = "kind,semantics,engine,flops,vector_flops,special_ops,link_elements,source\n";
  for (const OpDef& kind : kinds) {
    text += csv_record(std::vector<std::string>{
        std::string(kind.name), std::string(kind.semantics), std::string(name_of(kind.engine)),
        formula(kind.flops), formula(kind.vector_flops), formula(kind.special_ops),
        formula(kind.link_elements), std::string(kind.source)});
  }
  return text;
}

}  // namespace

std::string op_kinds(std::span<const OpDef> kinds, Format format) {
  if (format == Format::kCsv) {
    return csv(kinds);
  }
  if (format == Format::kJson) {
    Json list = Json::array();
    for (const OpDef& kind : kinds) {
      list.push_back(json(kind));
    }
    return json_text({{"schema", "mansard.ops/1"}, {"ops", list}});
  }
  std::string text;
  for (const OpDef& kind : kinds) {
    text += description(kind) + "\n";
  }
  return text + paragraph(kDefinitions);
}

}  // namespace mansard::cli
