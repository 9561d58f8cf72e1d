#include "stages/nn/cuda/tuning_cache.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "framework/base/json_reader.hpp"

namespace graphline::nn {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr const char* schema = "graphline.tuning/1";

// Guards the file, because several stages may be prepared at once.
std::mutex file_lock;

json no_plans() {
  return {{"schema", schema}, {"plans", json::object()}};
}

json read(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return no_plans();  // reading a pipe would block
  std::ifstream in(file, std::ios::binary);
  auto content = find_json(std::string(std::istreambuf_iterator<char>(in), {}));
  const bool sound = content && content->is_object() &&
                     content->value("schema", json()) == schema && content->contains("plans") &&
                     (*content)["plans"].is_object();
  return sound ? *std::move(content) : no_plans();
}

/// Replaces the file atomically: readers see the old or the new file, never a partial file.
void replace(const fs::path& file, const json& content) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const fs::path part = file.string() + "." + std::to_string(::getpid()) + ".part";
  std::ofstream out(part, std::ios::binary);
  out << content.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
  out.close();
  if (out) fs::rename(part, file, ignored);
  if (!out || ignored) fs::remove(part, ignored);
}

}  // namespace

tuning_cache::tuning_cache(const fs::path& folder) {
  if (!folder.empty()) file_ = folder / "tuning.json";
}

std::optional<tuned_plan> tuning_cache::find(const std::string& key) const {
  if (file_.empty()) return std::nullopt;
  const std::lock_guard lock(file_lock);
  const json content = read(file_);
  const auto found = content["plans"].find(key);
  if (found == content["plans"].end() || !found->is_object()) return std::nullopt;
  const json plan = found->value("plan", json());
  const json time = found->value("ns", json());
  if (!plan.is_string() || !time.is_number_integer()) return std::nullopt;
  return tuned_plan{plan.get<std::string>(), time.get<nanoseconds>(),
                    found->value("complete", json(true)) != json(false)};
}

void tuning_cache::store(const std::string& key, const tuned_plan& plan) {
  if (file_.empty()) return;
  const std::lock_guard lock(file_lock);
  json content = read(file_);
  json entry = {{"plan", plan.identity}, {"ns", plan.time}};
  if (!plan.complete) entry["complete"] = false;
  content["plans"][key] = std::move(entry);
  replace(file_, content);
}

}  // namespace graphline::nn
