#include "framework/device/cuda/library_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "framework/base/error.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string fake = "libgraphline_fake.so.9";

/// Puts the library into a folder under `name`.
void put_library(const fs::path& folder, const std::string& name = fake) {
  fs::create_directories(folder);
  fs::copy_file(GRAPHLINE_FAKE_LIBRARY, folder / name);
}

std::string message_of_failure(const std::string& name, const std::vector<library_place>& places) {
  try {
    open_library(name, places, "Do this.");
  } catch (const run_error& e) {
    return e.what();
  }
  return "";
}

/// Folders from a source, in order.
std::vector<std::string> folders_of(const std::string& source) {
  std::vector<std::string> folders;
  for (const library_place& place : library_places()) {
    if (place.source == source) folders.push_back(place.folder);
  }
  return folders;
}

TEST(library_loader, opens_the_first_that_is_a_library) {
  const temporary_folder folder;
  std::ofstream(folder.make("broken") / fake) << "text";
  put_library(folder.path() / "second");
  put_library(folder.path() / "third");
  const std::vector<library_place> places = {{folder.make("empty"), "a"},
                                             {folder.path() / "broken", "b"},
                                             {folder.path() / "second", "c"},
                                             {folder.path() / "third", "d"}};
  const shared_library opened = open_library(fake, places, "");
  EXPECT_EQ(opened.path(), (folder.path() / "second" / fake).string());
  EXPECT_EQ(opened.function<int()>("graphline_fake_answer")(), 42);
  EXPECT_THAT([&] { opened.function<int()>("graphline_fake_question"); },
              ::testing::ThrowsMessage<run_error>(
                  AllOf(HasSubstr(fake), HasSubstr("graphline_fake_question"))));
}

TEST(library_loader, reports_where_it_looked_and_the_remedy) {
  const temporary_folder folder;
  std::ofstream(folder.make("broken") / "libgraphline_absent.so.9") << "text";
  const std::string empty = folder.make("empty");
  const std::vector<library_place> places = {
      {empty, "GRAPHLINE_LIBRARY_PATH"}, {folder.path() / "broken", "a"}, {"", "the system"}};
  EXPECT_THAT(message_of_failure("libgraphline_absent.so.9", places),
              AllOf(HasSubstr("libgraphline_absent.so.9 cannot be opened"),
                    HasSubstr("\n  " + empty + " (GRAPHLINE_LIBRARY_PATH): not there"),
                    HasSubstr("\n  a: " + (folder.path() / "broken").string()),
                    HasSubstr("\n  the system: libgraphline_absent.so.9: cannot open"),
                    HasSubstr("\nDo this.")));
}

TEST(library_loader, finds_by_name_what_was_opened_in_a_folder) {
  const temporary_folder folder;
  const std::string name = "libgraphline_needed.so.9";
  fs::copy_file(GRAPHLINE_NEEDED_LIBRARY, folder.path() / name);
  const std::vector<library_place> system = {{"", "the system"}};
  ASSERT_FALSE(open_if_found(name, system)) << "it is loaded already";
  const std::vector<library_place> places = {{folder.path(), "a"}};
  const auto opened = open_if_found(name, places);
  ASSERT_TRUE(opened);
  EXPECT_EQ(open_library(name, system, "").handle(), opened->handle());
}

TEST(library_places, begin_with_those_of_the_environment) {
  const environment_guard variable("GRAPHLINE_LIBRARY_PATH", "/one::/two:");
  const std::vector<library_place> places = library_places();
  ASSERT_GE(places.size(), 5U);
  EXPECT_EQ(places[0].folder, "/one");
  EXPECT_EQ(places[1].folder, "/two");
  EXPECT_EQ(places[2].folder, (fs::read_symlink("/proc/self/exe").parent_path() / "lib").string());
  EXPECT_EQ(places[4].folder, "");
}

TEST(library_places, include_the_toolkit_and_the_packages_of_pythons) {
  const temporary_folder folder;
  const std::string own = folder.make("environment/lib/python3.12/site-packages/nvidia/cudnn/lib");
  const std::string other = folder.make("python/lib/python3.11/site-packages/nvidia/cu13/lib");
  const std::string debian = folder.make("python/lib/python3/dist-packages/nvidia/cublas/lib");
  folder.make("python/lib/python3.11/site-packages/nvidia/headers_only/include");

  const environment_guard toolkit("CUDA_PATH", "/opt/cuda");
  const environment_guard environment("VIRTUAL_ENV", (folder.path() / "environment").string());
  const environment_guard path("PATH", "/nowhere:" + (folder.path() / "python/bin").string());
  const environment_guard home("HOME", std::nullopt);
  EXPECT_THAT(folders_of("CUDA_PATH"), ::testing::ElementsAre("/opt/cuda/lib64"));
  EXPECT_THAT(folders_of("a Python package"), ::testing::ElementsAre(own, other, debian));
}

}  // namespace
}  // namespace graphline
