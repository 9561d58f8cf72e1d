#include "framework/report/render/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/placement.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// Cells in columns as wide as their widest cell, two spaces apart.
class table {
 public:
  /// One letter per column: 'l' for left-aligned, 'r' for right-aligned.
  table(std::string_view alignment, std::size_t indent, std::size_t widest)
      : alignment_(alignment), indent_(indent), widest_(widest), widths_(alignment.size(), 0) {}

  /// What is wider than `widest` overflows its cell and leaves the column as it is.
  void add(std::vector<std::string> row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::size_t width = text_width(row[c]);
      if (width <= widest_) widths_[c] = std::max(widths_[c], width);
    }
    rows_.push_back(std::move(row));
  }

  std::string line(std::size_t r) const {
    std::string text(indent_, ' ');
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string& cell = rows_[r][c];
      const std::size_t width = text_width(cell);
      const std::string blanks(widths_[c] > width ? widths_[c] - width : 0, ' ');
      text += alignment_[c] == 'r' ? blanks + cell : cell + blanks;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  std::string text() const {
    std::string all;
    for (std::size_t r = 0; r < rows_.size(); ++r) all += line(r);
    return all;
  }

 private:
  std::string_view alignment_;
  std::size_t indent_;
  std::size_t widest_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// `lead`, then the items with commas between, broken between items where the line ends.
std::string listed(const std::string& lead, const std::vector<std::string>& items,
                   const terminal_style& as) {
  const std::size_t indent = text_width(lead);
  std::string text = lead;
  std::size_t column = indent;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    const std::size_t width = text_width(item);
    if (i > 0 && column + 1 + width > as.width) {
      text += '\n';
      text.append(indent, ' ');
      column = indent;
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += item;
    column += width;
  }
  return text + "\n";
}

std::string title(std::string_view text, const terminal_style& as) {
  return colored(text, color::heading, as) + "\n";
}

/// Names come from users: shown without what a terminal would act on.
std::string shown(std::string_view name) {
  return printable(name);
}

std::string numbered(const plan& p, std::size_t stage) {
  return fmt::format("{} {}", stage + 1, shown(p.stages[stage].name));
}

/// "graphs=stage", "priorities=on": what the settings say in this run.
std::vector<std::string> words_of(const settings& run) {
  std::vector<std::string> words;
  each_setting([&](auto member, const setting_entry& of) {
    const std::string key = of.key;
    std::string value = written(run.*member);
    if (key == "arrival") value = run.arrival == arrival::closed ? "" : arrival_of(run);
    if (key == "threads" && run.threads == 0) value = "";
    if (key == "in_flight") {
      words.push_back(value + " in flight");
    } else if (key == "frames") {
      words.push_back(fmt::format("{} frames after {} of warm-up", value, run.warmup));
    } else if (key != "warmup" && key != "rate" && !value.empty() && applies(of, run)) {
      words.push_back(key + "=" + value);
    }
  });
  return words;
}

std::string header(const plan& p, const plan_target& target, const terminal_style& as) {
  std::string text = colored(shown(p.pipeline), color::heading, as);
  if (!p.description.empty()) text += ": " + shown(p.description);
  text += "\n\n";
  text += "  device      " + target.backend;
  if (target.device_memory_bytes > 0) {
    text += fmt::format(", {} of memory", format_bytes(target.device_memory_bytes));
  }
  text += "\n";
  std::vector<std::string> parameters;
  for (const auto& [name, value] : p.parameters) {
    parameters.push_back(shown(name) + "=" + shown(value));
  }
  if (!parameters.empty()) text += listed("  parameters  ", parameters, as);
  return text + listed("  run         ", words_of(p.run), as);
}

std::string where_it_runs(const plan& p, const planned_stage& stage) {
  if (stage.on == side::cpu && p.run.graphs != graph_mode::frame) return "cpu";
  const planned_stream& stream = p.streams[stage.stream];
  if (stream.calls) return fmt::format("{}, host node", stream.name);
  return fmt::format("{}, {}", stream.name, to_word(stream.priority));
}

std::string work_of(const cost& c) {
  return c.flops == 0 ? "-" : format_count(static_cast<double>(c.flops), "FLOP");
}

std::string bytes_of(const cost& c) {
  return format_bytes(
      saturating_add(static_cast<std::uint64_t>(std::max<std::int64_t>(c.bytes_read, 0)),
                     static_cast<std::uint64_t>(std::max<std::int64_t>(c.bytes_written, 0))));
}

std::vector<std::string> typed(const plan& p, const std::vector<std::size_t>& tensors) {
  std::vector<std::string> list;
  for (const std::size_t t : tensors) {
    list.push_back(shown(p.tensors[t].name) + " " + to_string(p.tensors[t].type));
  }
  return list;
}

/// "image float32 [1, 3] -> score float32 [1]", on two lines where one is too short.
std::string data_of(const plan& p, const planned_stage& stage, const terminal_style& as) {
  const std::string indent(6, ' ');
  const std::string reads = stage.reads.empty() ? "" : listed(indent, typed(p, stage.reads), as);
  const std::string writes =
      stage.writes.empty() ? "" : listed(indent + "-> ", typed(p, stage.writes), as);
  if (reads.empty() || writes.empty()) return reads + writes;
  // Joined: the line end becomes a space, and the indentation of the second goes.
  const std::string one = reads.substr(0, reads.size() - 1) + " " + writes.substr(indent.size());
  const bool fits =
      std::count(one.begin(), one.end(), '\n') == 1 && text_width(one) <= as.width + 1;
  return fits ? one : reads + writes;
}

std::string waits_of(const plan& p, const planned_stage& stage, const terminal_style& as) {
  std::vector<std::string> list;
  for (const dependency& wait : stage.waits) {
    list.push_back(fmt::format("{} ({}{})", numbered(p, wait.stage),
                               wait.tensors.empty() ? "after, " : "", to_word(wait.how)));
  }
  return list.empty() ? std::string() : listed("      waits for ", list, as);
}

std::string stages_section(const plan& p, const terminal_style& as) {
  table rows("rlllrr", 2, 18);
  rows.add({"#", "stage", "kind", "runs on", "work", "moved"});
  cost total;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const planned_stage& stage = p.stages[s];
    rows.add({fmt::format("{}", s + 1), shown(stage.name),
              stage.inserted ? "inserted copy" : shown(stage.kind->name), where_it_runs(p, stage),
              work_of(stage.shape.cost),
              stage.shape.known == known_cost::none ? "-" : bytes_of(stage.shape.cost)});
    total += stage.shape.cost;
  }
  rows.add({"", "all stages", "", "", work_of(total), bytes_of(total)});
  std::string text = title("Stages, in order", as) + rows.line(0);
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    text += rows.line(s + 1) + data_of(p, p.stages[s], as) + waits_of(p, p.stages[s], as);
  }
  return text + rows.line(p.stages.size() + 1);
}

std::string streams_section(const plan& p, const terminal_style& as) {
  std::vector<std::vector<std::string>> on_stream(p.streams.size());
  std::vector<std::string> on_cpu;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const planned_stage& stage = p.stages[s];
    const bool in_stream = stage.on == side::device || p.run.graphs == graph_mode::frame;
    (in_stream ? on_stream[stage.stream] : on_cpu).push_back(numbered(p, s));
  }
  std::string text = title("Streams", as);
  for (std::size_t s = 0; s < p.streams.size(); ++s) {
    const planned_stream& stream = p.streams[s];
    text += listed(fmt::format("  {:<8}  {:<6}  ", stream.name,
                               stream.calls ? "calls" : to_word(stream.priority)),
                   on_stream[s], as);
  }
  if (!on_cpu.empty()) text += listed(fmt::format("  {:<8}  {:<6}  ", "cpu", ""), on_cpu, as);
  return text;
}

/// What is captured, for a frame that is one graph; else nothing.
std::string graph_section(const plan& p, const terminal_style& as) {
  if (p.run.graphs != graph_mode::frame) return "";
  const auto calls = static_cast<std::size_t>(std::count_if(
      p.stages.begin(), p.stages.end(), [](const planned_stage& s) { return s.on == side::cpu; }));
  const auto counted = [](std::size_t n, std::string_view noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  };
  const auto executables = static_cast<std::size_t>(p.run.in_flight);
  std::string text = title("Graph", as);
  text += paragraph(
      fmt::format("  the whole frame is one graph, captured over {}: {}, and {} as host "
                  "nodes, {}",
                  counted(p.streams.size(), "stream"),
                  counted(p.stages.size() - calls, "device stage"), counted(calls, "CPU stage"),
                  p.run.strategy == strategy::overlap ? "which start when their inputs are ready"
                                                      : "which keep their order"),
      2, as);
  text += paragraph(fmt::format("  {} of it, one per frame in flight; each frame begins on the "
                                "device when the one before has ended",
                                counted(executables, "executable")),
                    2, as);
  return text + "\n";
}

/// The stages during which a tensor must keep its bytes.
std::string life_of(const planned_tensor& t) {
  if (t.input) return "always";
  if (t.output()) return fmt::format("{} to the end", t.producer + 1);
  return fmt::format("{} to {}", t.producer + 1, t.consumers.back() + 1);
}

std::string tensors_section(const plan& p, const placement& placed, const terminal_style& as) {
  table rows("lrlrll", 2, 28);
  rows.add({"tensor", "size", "lives on", "at", "stages", ""});
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const planned_tensor& tensor = p.tensors[t];
    rows.add({shown(tensor.name), format_bytes(tensor.type.bytes()),
              std::string(to_word(tensor.on)),
              tensor.input ? "-" : format_bytes(placed.tensor_offset[t]), life_of(tensor),
              tensor.input                                    ? "input"
              : tensor.output()                               ? "output"
              : tensor.layout == tensor_layout::channels_last ? "channels last"
                                                              : ""});
  }
  return title("Tensors of a frame", as) + rows.text();
}

std::string memory_section(const plan& p, const placement& placed, const terminal_style& as) {
  const memory_need need = need_of(p, placed);
  table rows("lrr", 2, 40);
  const auto add = [&](std::string what, std::uint64_t device, std::uint64_t host) {
    rows.add({std::move(what), format_bytes(device), format_bytes(host)});
  };
  rows.add({"", "device", "host"});
  add("a frame, each tensor apart", placed.device_bytes_without_reuse,
      placed.pinned_bytes_without_reuse);
  add("a frame, shared by lifetime", need.device.slot, need.host.slot);
  if (p.run.in_flight > 1) {
    add(fmt::format("{} frames in flight", p.run.in_flight), need.device.slots, need.host.slots);
  }
  add("inputs", need.device.inputs, need.host.inputs);
  add("weights", need.device.weights, need.host.weights);
  add("together", need.device.total(), need.host.total());
  return title("Memory, without the scratch that stages ask for once they are prepared", as) +
         rows.text();
}

}  // namespace

std::string describe_plan(const plan& p, const plan_target& target, const terminal_style& as) {
  const placement placed = place_buffers(p, {});
  return header(p, target, as) + "\n" + stages_section(p, as) + "\n" + streams_section(p, as) +
         "\n" + graph_section(p, as) + tensors_section(p, placed, as) + "\n" +
         memory_section(p, placed, as);
}

}  // namespace graphline
