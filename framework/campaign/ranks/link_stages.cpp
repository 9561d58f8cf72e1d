#include "framework/campaign/ranks/link_stages.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

class send_stage final : public cpu_stage {
 public:
  send_stage(tensor_links& links, std::size_t link) : links_(links), link_(link) {}

  void run(const cpu_call& call) override {
    std::span<const std::byte> bytes;
    if (!call.inputs.empty()) {
      const const_tensor_view& tensor = call.inputs[0];
      bytes = {static_cast<const std::byte*>(tensor.data), tensor.type.bytes()};
    }
    links_.send(link_, bytes);
  }

 private:
  tensor_links& links_;
  std::size_t link_;
};

class receive_stage final : public awaiting_stage {
 public:
  receive_stage(tensor_links& links, std::size_t link) : links_(links), link_(link) {}

  void run(const cpu_call& call) override {
    std::span<std::byte> bytes;
    if (!call.outputs.empty()) {
      const tensor_view& tensor = call.outputs[0];
      bytes = {static_cast<std::byte*>(tensor.data), tensor.type.bytes()};
    }
    links_.receive(link_, bytes);
  }

  void await() override { links_.await(link_); }
  bool is_ready(const std::function<void()>& then) override {
    return links_.has_arrived(link_, then);
  }
  void cancel() noexcept override { links_.cancel(); }

 private:
  tensor_links& links_;
  std::size_t link_;
};

struct link_kind {
  const char* name;
  const char* headline;
  bool sends;
  bool signal;
};

constexpr link_kind link_kinds[] = {
    {send_kind, "Sends a tensor to another rank", true, false},
    {receive_kind, "Receives a tensor of another rank", false, false},
    {signal_kind, "Tells another rank that a stage is done", true, true},
    {await_kind, "Waits for a stage of another rank", false, true}};

bool is_of(const rank_transfer& transfer, int rank) {
  return transfer.from == rank || transfer.to == rank;
}

}  // namespace

std::vector<tensor_link> links_of_rank(const std::vector<rank_transfer>& transfers, int rank) {
  std::vector<tensor_link> links;
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const rank_transfer& of = transfers[t];
    if (!is_of(of, rank)) continue;
    const bool sends = of.from == rank;
    const std::size_t bytes = of.signal ? 0 : of.type.bytes();
    if (bytes > tensor_links::most_bytes) {
      throw input_error(fmt::format(
          "'{}' has {} bytes, and ranks exchange tensors of less than 2 GiB", of.name, bytes));
    }
    links.push_back({sends, sends ? of.to : of.from, static_cast<int>(t), bytes});
  }
  return links;
}

void add_link_kinds(stage_registry& to, const std::vector<rank_transfer>& transfers, int rank,
                    tensor_links& links) {
  std::vector<std::size_t> link_of(transfers.size());  // by transfer
  std::size_t next = 0;
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    if (is_of(transfers[t], rank)) link_of[t] = next++;
  }
  for (const link_kind& of : link_kinds) {
    stage_kind kind;
    kind.name = of.name;
    kind.headline = of.headline;
    if (!of.signal) (of.sends ? kind.inputs : kind.outputs) = {{"tensor", "any"}};
    kind.parameters = {
        {.name = "transfer", .type = parameter_type::integer, .help = "Which", .required = true}};
    kind.prepare = [=, &links](const arguments& given, std::span<const tensor_type>, diagnostics&) {
      const auto transfer = static_cast<std::size_t>(given.integer("transfer"));
      prepared_stage made;
      if (!of.sends && !of.signal) made.outputs = {transfers[transfer].type};
      const std::size_t link = link_of[transfer];
      made.make_cpu = [&links, link, sends = of.sends](const stage_config&) {
        return sends ? std::unique_ptr<cpu_stage>(std::make_unique<send_stage>(links, link))
                     : std::make_unique<receive_stage>(links, link);
      };
      return made;
    };
    to.add(std::move(kind));
  }
}

}  // namespace graphline
