#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "framework/base/error.hpp"
#include "framework/base/version.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/stage/plugin_description.hpp"
#include "framework/stage/plugin_loader.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::Throws;

namespace fs = std::filesystem;

std::string file_of(const std::string& plugin) {
  return GRAPHLINE_PLUGIN_DIR "/" + plugin + ".so";
}

template <class Words>
auto refused_with(const Words& words) {
  return Throws<input_error>(Property(&input_error::what, words));
}

stage_registry registry_with(const std::string& plugin) {
  stage_registry registry;
  load_plugin(file_of(plugin), registry);
  return registry;
}

TEST(a_plugin, brings_its_kinds_with_their_origin) {
  const stage_registry registry = registry_with("good");
  EXPECT_THAT(registry.names(), ElementsAre("test.add", "test.fail"));
  EXPECT_EQ(registry.find("test.add")->origin, fs::canonical(file_of("good")));
}

TEST(a_plugin, is_loaded_once_however_its_file_is_called) {
  stage_registry registry = registry_with("good");
  const temporary_folder other;
  fs::create_symlink(file_of("good"), other / "alias.so");
  load_plugin(other / "alias.so", registry);
  load_plugin(file_of("../plugins/good"), registry);
  EXPECT_EQ(registry.all().size(), 2U);
}

TEST(a_plugin, throws_errors_that_the_program_catches_by_their_type) {
  ASSERT_EQ(::dlsym(RTLD_DEFAULT, "_ZN9graphline14stage_registry3addENS_10stage_kindE"), nullptr)
      << "this program exports symbols; the test is about one that does not";
  const stage_registry registry = registry_with("good");
  const stage_kind& kind = *registry.find("test.fail");
  const auto run = [&](const char* how) {
    stage_config config;
    config.arguments.set("how", std::string(how), {});
    diagnostics found;
    kind.prepare(config.arguments, {}, found).make_cpu(config)->run({});
  };
  EXPECT_THAT([&] { run("input"); },
              Throws<input_error>(Property(&error::status, exit_status::bad_input)));
  EXPECT_THAT([&] { run("private"); },
              Throws<run_error>(Property(&error::what, HasSubstr("a private error"))));
  EXPECT_THROW(run("standard"), std::out_of_range);
  try {
    run("private");
  } catch (const error& e) {
    EXPECT_EQ(e.status(), exit_status::run_failed);
  }
}

TEST(a_plugin, reports_mistakes_at_the_places_of_its_arguments) {
  const stage_registry registry = registry_with("good");
  const stage_kind& kind = *registry.find("test.fail");
  const auto text = std::make_shared<const source_text>("p.yaml", "how: planned\n");
  const auto given = node::mapping({{{"how", {}}, node::scalar("planned", false, {text, 1, 6})}});
  diagnostics out;
  const arguments bound = bind_arguments(kind.parameters, given, "stage 's'", {text}, ".", out);
  ASSERT_THAT(out.all(), IsEmpty());
  kind.prepare(bound, {}, out);
  EXPECT_THAT(out.render(), HasSubstr("p.yaml:1:6: error: said by the plug-in\n    1 | how: "));
}

TEST(a_plugin, runs_device_work_on_the_host_device_of_the_program) {
  const stage_registry registry = registry_with("good");
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const memory in = dev->allocate(8 * sizeof(float));
  const memory out = dev->allocate(8 * sizeof(float));
  const tensor_type type{{8}, dtype::float32};
  diagnostics found;
  const auto prepared = registry.find("test.add")->prepare({}, {{type}}, found);
  const auto stage = prepared.make_device.at("host")(*dev, {});
  const auto work = stage->bind({{{in.data(), type}}, {{out.data(), type}}, nullptr});

  s->fill(in.data(), std::byte{0}, in.bytes());
  work->enqueue(*s);
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(static_cast<const float*>(out.data())[7], 2.0F);

  s->fill(out.data(), std::byte{0}, out.bytes());
  const auto captured = dev->capture(*s, [&] { work->enqueue(*s); });
  ASSERT_EQ(captured->nodes().size(), 1U);
  EXPECT_EQ(captured->nodes()[0].name, "add");
  const auto exec = captured->instantiate();
  s->launch(*exec);
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(static_cast<const float*>(out.data())[0], 2.0F);
}

TEST(a_plugin, is_refused_with_both_descriptions_when_it_was_built_otherwise) {
  stage_registry registry;
  for (const auto* built_otherwise : {"other_abi", "other_compiler"}) {
    EXPECT_THAT([&] { load_plugin(file_of(built_otherwise), registry); },
                refused_with(AllOf(
                    HasSubstr("of Graphline 0.3.1, this program has plug-in ABI " +
                              std::to_string(plugin_abi) + " (" + std::string(plugin_compiler)),
                    HasSubstr("of Graphline " + std::string(version()) + ": build it again"))));
  }
}

TEST(a_plugin, is_refused_when_it_does_not_say_that_it_is_one) {
  stage_registry registry;
  EXPECT_THAT([&] { load_plugin(file_of("no_plugin"), registry); },
              refused_with(HasSubstr("is no Graphline plug-in: ")));
  EXPECT_THAT([&] { load_plugin(file_of("other_magic"), registry); },
              refused_with(HasSubstr("is no Graphline plug-in: ")));
}

TEST(a_plugin, is_refused_when_it_fails_to_register_or_registers_nothing) {
  stage_registry registry;
  EXPECT_THAT([&] { load_plugin(file_of("throws_error"), registry); },
              refused_with(HasSubstr(
                  "throws_error.so' failed to register its kinds: the table of weights")));
  EXPECT_THAT([&] { load_plugin(file_of("throws_number"), registry); },
              refused_with(HasSubstr("an exception not derived from std::exception")));
  EXPECT_THAT([&] { load_plugin(file_of("empty"), registry); },
              refused_with(HasSubstr("brings neither stage kinds nor policies")));
}

TEST(a_plugin, with_a_name_that_is_taken_brings_nothing) {
  stage_registry registry = registry_with("good");
  EXPECT_THAT([&] { load_plugin(file_of("taken"), registry); },
              refused_with(AllOf(HasSubstr("taken.so' brings the kind 'test.fail'"),
                                 HasSubstr("give it another name"))));
  EXPECT_EQ(registry.find("test.a_new_one"), nullptr);
}

TEST(a_plugin, that_is_no_shared_library_is_refused_with_the_remedy) {
  stage_registry registry;
  EXPECT_THAT([&] { load_plugin(file_of("god"), registry); },
              refused_with(HasSubstr("is not there (did you mean 'good.so'?); build it first")));
  EXPECT_THAT([&] { load_plugin(GRAPHLINE_PLUGIN_DIR, registry); },
              refused_with(HasSubstr("is not a regular file")));
  EXPECT_THAT([&] { load_plugin(GRAPHLINE_TEST_DIR "/plugin_test.cpp", registry); },
              refused_with(HasSubstr("cannot be loaded: invalid ELF header")));
  const temporary_folder other;
  std::ofstream(other / "cut_off.so") << "\177ELF and no more";
  EXPECT_THAT([&] { load_plugin(other / "cut_off.so", registry); },
              refused_with(HasSubstr("cut_off.so' cannot be loaded: file too short")));
  EXPECT_THAT([&] { load_plugin(file_of("lacks_a_symbol"), registry); },
              refused_with(AllOf(HasSubstr("cannot be loaded: undefined symbol: defined_nowhere"),
                                 HasSubstr("ldd -r"))));
}

TEST(plugins_of_a_pipeline, are_found_from_its_folder_and_reported_at_their_places) {
  const auto text = std::make_shared<const source_text>(
      "p.yaml", "plugins: [plugins/good.so, plugins/none.so, plugins/other_abi.so]\n");
  pipeline_spec spec;
  spec.directory = fs::path(GRAPHLINE_PLUGIN_DIR).parent_path().string();
  spec.plugins = {{"plugins/good.so", {text, 1, 11, 15}},
                  {"plugins/none.so", {text, 1, 28, 15}},
                  {"plugins/other_abi.so", {text, 1, 45, 20}}};
  stage_registry registry;
  diagnostics out;
  EXPECT_FALSE(load_plugins(spec, registry, out));
  EXPECT_NE(registry.find("test.add"), nullptr);
  ASSERT_EQ(out.all().size(), 2U);
  EXPECT_EQ(out.all()[0].place.column, 28U);
  EXPECT_THAT(out.all()[0].message, HasSubstr("/none.so' is not there"));
  EXPECT_EQ(out.all()[1].place.column, 45U);

  spec.plugins = {{file_of("good"), {}}};
  diagnostics nothing;
  EXPECT_TRUE(load_plugins(spec, registry, nothing)) << "an absolute path stays as it is";
  EXPECT_THAT(nothing.all(), IsEmpty());
}

TEST(plugins_of_a_pipeline, are_found_from_the_working_directory_where_an_option_names_them) {
  pipeline_spec spec;
  spec.directory = "/elsewhere";
  spec.plugins = {{fs::relative(file_of("good")).string(),
                   {std::make_shared<const source_text>("--set library=good.so", "")}}};
  stage_registry registry;
  diagnostics nothing;
  EXPECT_TRUE(load_plugins(spec, registry, nothing)) << nothing.render();
}

}  // namespace
}  // namespace graphline
