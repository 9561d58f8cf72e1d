#include "stages/nn/onnx/onnx_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "framework/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/nn/onnx/model_writer.hpp"

namespace graphline::nn {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using written::attribute;
using written::message;
using written::model;
using written::node;
using written::raw;
using written::tensor;
using written::value;

onnx_model parse(const message& written, const std::string& path = "m.onnx") {
  return parse_onnx(std::as_bytes(std::span(written.bytes())), path);
}

/// What is said about a model; "none" where nothing is.
std::string problem(const message& written) {
  try {
    parse(written);
  } catch (const input_error& refusal) {
    return refusal.what();
  }
  return "none";
}

std::string problem_of_file(const std::string& path) {
  try {
    read_onnx(path);
  } catch (const input_error& refusal) {
    return refusal.what();
  }
  return "none";
}

/// A graph with one initializer, and that initializer when it was read.
message holding(const message& initializer) {
  return model(message().add(5, initializer));
}
onnx_tensor reread(const message& initializer) {
  return parse(holding(initializer)).graph.initializers.at(0);
}
std::vector<std::int64_t> integers_of(const message& initializer) {
  return std::get<std::vector<std::int64_t>>(reread(initializer).values);
}
std::vector<float> floats_of(const message& initializer) {
  return std::get<std::vector<float>>(reread(initializer).values);
}

message graph_of(const std::vector<message>& nodes) {
  message graph;
  for (const message& written : nodes) graph.add(1, written);
  return graph.add(11, value("x", {"N"}));
}

TEST(onnx_model, holds_what_the_file_says) {
  message graph = graph_of({node("Relu", {"x"}, {"y"}, "first"), node("Add", {"y", "w"}, {"z"})});
  graph.text(2, "main").add(5, tensor("w", onnx_type::float32, {2}).packed_reals(4, {1, 2}));
  graph.add(11, value("w", {"2"})).add(12, value("z", {"N"})).add(13, message().text(1, "y"));
  const onnx_model read = parse(model(graph, 17)
                                    .text(3, "1.2")
                                    .add(8, message().text(1, "ai.onnx.ml").number(2, 3))
                                    .add(14, message().text(1, "author").text(2, "us")));
  EXPECT_EQ(read.opset, 17);
  ASSERT_EQ(read.graph.nodes.size(), 2U);
  EXPECT_EQ(read.graph.nodes[1].op_type, "Add");
  EXPECT_THAT(read.graph.nodes[1].inputs, ElementsAre("y", "w"));
  EXPECT_THAT(read.graph.nodes[1].outputs, ElementsAre("z"));
  ASSERT_EQ(read.graph.inputs.size(), 1U) << "an initializer gives the other one";
  EXPECT_EQ(read.graph.inputs[0].name, "x");
  EXPECT_EQ(read.graph.inputs[0].element, onnx_type::float32);
  EXPECT_EQ(read.graph.inputs[0].extents.value().at(0).symbol, "N");
  EXPECT_EQ(read.graph.outputs.at(0).name, "z");
}

TEST(onnx_model, tells_numbers_names_and_unknown_extents_apart) {
  message shape;
  shape.add(1, message().number(1, 3)).add(1, message().number(1, -1)).add(1, message());
  const auto typed =
      message().text(1, "x").add(2, message().add(1, message().number(1, 7).add(2, shape)));
  const auto read = parse(model(message().add(11, typed))).graph.inputs.at(0);
  EXPECT_EQ(read.element, onnx_type::int64);
  ASSERT_EQ(read.extents.value().size(), 3U);
  EXPECT_EQ(read.extents.value()[0].number, 3);
  EXPECT_FALSE(read.extents.value()[1].number);
  EXPECT_FALSE(read.extents.value()[2].number);
}

TEST(onnx_model, names_nodes_that_have_no_name_of_their_own) {
  const auto read = parse(model(graph_of(
      {node("Relu", {"x"}, {"a"}), node("Relu", {"x"}, {"b"}, "n"), node("Relu", {"x"}, {"c"}, "n"),
       node("Relu", {"x"}, {"d"}, "Relu_4"), node("Relu", {"x"}, {"e"})})));
  std::vector<std::string> names;
  for (const onnx_node& each : read.graph.nodes) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("Relu_0", "n", "Relu_2", "Relu_4", "Relu_4_"));
}

TEST(onnx_model, holds_attributes_of_each_type) {
  const auto inner = message().add(1, node("Abs", {"x"}, {"inside"}));
  message written = node("Custom", {"x"}, {"y"});
  written.text(7, "ai.onnx");
  written.add(5, attribute("f", 1).real(2, 0.5F)).add(5, attribute("i", 2).number(3, -4));
  written.add(5, attribute("s", 3).text(4, "bytes \xff"));
  written.add(5, attribute("t", 4).add(5, tensor("", onnx_type::int64, {}).number(7, 9)));
  written.add(5, attribute("g", 5).add(6, inner));
  written.add(5, attribute("fs", 6).real(7, 1).real(7, 2))
      .add(5, attribute("is", 7).packed(8, {3, 4}));
  written.add(5, attribute("ss", 8).text(9, "a").text(9, "b")).add(5, attribute("zero", 2));
  written.add(5, attribute("sparse", 11));
  const onnx_node read = parse(model(graph_of({written}))).graph.nodes.at(0);
  EXPECT_EQ(read.domain, "");
  EXPECT_EQ(*read.attribute<float>("f"), 0.5F);
  EXPECT_EQ(*read.attribute<std::int64_t>("i"), -4);
  EXPECT_EQ(*read.attribute<std::int64_t>("zero"), 0);
  EXPECT_EQ(*read.attribute<std::string>("s"), "bytes \xff");
  EXPECT_THAT(std::get<2>(read.attribute<onnx_tensor>("t")->values), ElementsAre(9));
  EXPECT_EQ((*read.attribute<std::shared_ptr<const onnx_graph>>("g"))->nodes.at(0).op_type, "Abs");
  EXPECT_THAT(*read.attribute<std::vector<float>>("fs"), ElementsAre(1, 2));
  EXPECT_THAT(*read.attribute<std::vector<std::int64_t>>("is"), ElementsAre(3, 4));
  EXPECT_THAT(*read.attribute<std::vector<std::string>>("ss"), ElementsAre("a", "b"));
  EXPECT_EQ(read.attribute<std::int64_t>("f"), nullptr);
  EXPECT_EQ(read.attribute<std::int64_t>("sparse"), nullptr);
}

TEST(onnx_model, widens_raw_data) {
  const auto of = [](onnx_type element, const std::string& bytes) {
    return tensor("w", element, {2}).text(9, bytes);
  };
  EXPECT_THAT(floats_of(of(onnx_type::float32, raw<float>({1.5F, -2}))), ElementsAre(1.5F, -2));
  EXPECT_THAT(floats_of(of(onnx_type::float16, raw<std::uint16_t>({0x3c00, 0xc000}))),
              ElementsAre(1, -2));
  EXPECT_THAT(floats_of(of(onnx_type::bfloat16, raw<std::uint16_t>({0x3f80, 0xc000}))),
              ElementsAre(1, -2));
  EXPECT_THAT(std::get<1>(reread(of(onnx_type::float64, raw<double>({0.1, 2}))).values),
              ElementsAre(0.1, 2));
  EXPECT_THAT(integers_of(of(onnx_type::int8, "\xff\x01")), ElementsAre(-1, 1));
  EXPECT_THAT(integers_of(of(onnx_type::uint8, "\xff\x01")), ElementsAre(255, 1));
  EXPECT_THAT(integers_of(of(onnx_type::boolean, std::string("\x02\0", 2))), ElementsAre(1, 0));
  EXPECT_THAT(integers_of(of(onnx_type::int16, raw<std::int16_t>({-3, 4}))), ElementsAre(-3, 4));
  EXPECT_THAT(integers_of(of(onnx_type::uint16, raw<std::int16_t>({-3, 4}))),
              ElementsAre(65533, 4));
  EXPECT_THAT(integers_of(of(onnx_type::int32, raw<std::int32_t>({-3, 4}))), ElementsAre(-3, 4));
  EXPECT_THAT(integers_of(of(onnx_type::uint32, raw<std::int32_t>({-3, 4}))),
              ElementsAre(4294967293, 4));
  EXPECT_THAT(integers_of(of(onnx_type::int64, raw<std::int64_t>({-3, 4}))), ElementsAre(-3, 4));
  EXPECT_THAT(integers_of(of(onnx_type::uint64, raw<std::int64_t>({3, 4}))), ElementsAre(3, 4));
}

TEST(onnx_model, widens_typed_data_packed_or_not) {
  const auto of = [](onnx_type element) { return tensor("w", element, {2}); };
  EXPECT_THAT(floats_of(of(onnx_type::float32).real(4, 1).real(4, 2)), ElementsAre(1, 2));
  EXPECT_THAT(floats_of(of(onnx_type::float16).packed(5, {0x3c00, 0xc000})), ElementsAre(1, -2));
  EXPECT_THAT(floats_of(of(onnx_type::bfloat16).number(5, 0x3f80).number(5, 0xc000)),
              ElementsAre(1, -2));
  EXPECT_THAT(std::get<1>(reread(of(onnx_type::float64).text(10, raw<double>({0.1, 2}))).values),
              ElementsAre(0.1, 2));
  EXPECT_THAT(integers_of(of(onnx_type::int8).packed(5, {-1, 300})), ElementsAre(-1, 44));
  EXPECT_THAT(integers_of(of(onnx_type::boolean).packed(5, {0, 1})), ElementsAre(0, 1));
  EXPECT_THAT(integers_of(of(onnx_type::int64).packed(7, {-1}).packed(7, {300})),
              ElementsAre(-1, 300));
  EXPECT_THAT(integers_of(of(onnx_type::uint64).packed(11, {1, 300})), ElementsAre(1, 300));
  EXPECT_TRUE(reread(tensor("w", onnx_type::int8, {5, 0})).known());
}

TEST(onnx_model, keeps_strings_unread) {
  const onnx_tensor read = reread(tensor("w", onnx_type::string, {1}).text(6, "label"));
  EXPECT_EQ(to_string(read.element), "string");
  EXPECT_FALSE(read.known());
}

TEST(onnx_model, wraps_integers_to_their_type) {
  EXPECT_EQ(wrapped(onnx_type::uint8, -1), 255);
  EXPECT_EQ(wrapped(onnx_type::int8, 200), -56);
  EXPECT_EQ(wrapped(onnx_type::int16, 40000), -25536);
  EXPECT_EQ(wrapped(onnx_type::uint32, -1), 4294967295);
  EXPECT_EQ(wrapped(onnx_type::boolean, -7), 1);
  EXPECT_EQ(wrapped(onnx_type::int64, -7), -7);
  EXPECT_EQ(wrapped(onnx_type::float32, -7), -7);
}

TEST(onnx_model, refuses_files_that_are_no_models) {
  const temporary_folder folder;
  const std::string path = folder.path() / "m.onnx";
  EXPECT_THAT(problem_of_file(path), HasSubstr("ONNX file '" + path + "' does not exist"));
  EXPECT_THAT(problem_of_file(folder.path()), HasSubstr("is not a regular file"));
  const auto write = [&](std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  };
  for (const std::string_view other : {"", "version https://git-lfs", "\x0a\x01x"}) {
    write(other);
    EXPECT_THAT(problem_of_file(path), HasSubstr("is not an ONNX file; export")) << other;
  }
  write("PK\x03\x04");
  EXPECT_THAT(problem_of_file(path), HasSubstr("is a zip archive; unpack it"));
  write("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n");
  EXPECT_THAT(problem_of_file(path), HasSubstr("is a Git LFS pointer, not the file"));
  const std::string sound = model(graph_of({node("Relu", {"x"}, {"y"})})).bytes();
  write(sound);
  EXPECT_EQ(problem_of_file(path), "none");
  write(std::string_view(sound).substr(0, sound.size() - 3));
  EXPECT_THAT(problem_of_file(path), HasSubstr("is truncated; copy it again"));
  write(sound + "\x0f");
  EXPECT_THAT(problem_of_file(path), HasSubstr("is damaged; copy it again"));
  write(message().number(1, 8).bytes());
  EXPECT_THAT(problem_of_file(path), HasSubstr("holds no graph"));
  write("");
  fs::resize_file(path, (std::uintmax_t{1} << 31) + 1);  // takes no space
  EXPECT_THAT(problem_of_file(path), HasSubstr("is larger than 2 GiB"));
}

TEST(onnx_model, refuses_operator_sets_that_it_does_not_know) {
  EXPECT_EQ(problem(model(message(), 7)), "none");
  EXPECT_EQ(problem(model(message(), 23)), "none");
  EXPECT_THAT(problem(model(message(), 6)),
              HasSubstr("'m.onnx' uses operator set 6, and 7 to 23 are supported; convert it"));
  EXPECT_THAT(problem(model(message(), 24)), HasSubstr("uses operator set 24"));
}

TEST(onnx_model, refuses_tensors_that_are_not_sound) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  const auto of = [](const std::vector<std::int64_t>& extents) {
    return tensor("w", onnx_type::int32, extents);
  };
  const std::tuple<message, const char*> cases[] = {
      {of({2}).text(9, "1234567"), "initializer 'w' does not have the data of int32 [2]; export"},
      {of({2}).text(9, "123456789"), "does not have the data"},
      {of({2}).packed(5, {1, 2, 3}), "does not have the data"},
      {of({2}), "does not have the data"},
      {of({large}).text(9, "1234"), "does not have the data"},
      {of({large, large}), "initializer 'w' has the impossible shape [1099511627776, 109"},
      {of({-1}), "impossible shape [-1]"},
      {of(std::vector<std::int64_t>(65, 1)), "initializer 'w' has 65 dimensions"},
      {of({}).add(3, message()), "initializer 'w' is a segment of a tensor"},
      {tensor("w", static_cast<onnx_type>(14), {}),
       "is not supported: initializer 'w' has the "
       "element type 14"},
      {tensor("w", onnx_type::uint64, {}).number(11, -1),
       "initializer 'w' has numbers beyond 2^63 - 1; export it as int64"},
      {tensor("w", onnx_type::float32, {1}).text(4, "123"), "initializer 0 is damaged; export"},
      {tensor("w\xff", onnx_type::float32, {1}), "initializer 0 is damaged"}};
  for (const auto& [written, expected] : cases) {
    EXPECT_THAT(problem(holding(written)), HasSubstr(expected));
  }
  const auto constant = node("Constant", {}, {"y"}).add(5, attribute("value", 4).add(5, of({2})));
  EXPECT_THAT(problem(model(graph_of({constant}))),
              HasSubstr("node 'Constant_0', attribute 'value' does not have the data"));
}

TEST(onnx_model, refuses_graphs_that_are_not_sound) {
  const auto in_graph = [](const message& inner) {
    return node("If", {"x"}, {"y"}).add(5, attribute("then_branch", 5).add(6, inner));
  };
  const std::tuple<message, const char*> cases[] = {
      {graph_of({node("Relu", {"gone"}, {"y"})}),
       "is invalid: node 'Relu_0' reads 'gone', which nothing gives; export the model again"},
      {graph_of({node("Relu", {"z"}, {"y"}), node("Abs", {"y"}, {"z"})}),
       "node 'Relu_0' reads 'z', which node 'Abs_1' does not give before it"},
      {graph_of({node("Relu", {"y"}, {"y"})}), "reads 'y', which node 'Relu_0' does not give"},
      {graph_of({node("Relu", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}),
       "node 'Abs_1' gives 'y', which is given before"},
      {graph_of({node("Relu", {"x"}, {"x"})}), "node 'Relu_0' gives 'x', which is given before"},
      {graph_of({}).add(11, value("x", {})), "an input gives 'x', which is given before"},
      {message()
           .add(5, tensor("w", onnx_type::int8, {0}))
           .add(5, tensor("w", onnx_type::int8, {0})),
       "an initializer gives 'w', which is given before"},
      {graph_of({}).add(12, value("y", {})), "its output 'y' is given by no node"},
      {graph_of({node("", {"x"}, {"y"})}), "node 0 names no operator"},
      {graph_of({message().number(1, 5)}), "node 0 is damaged"},
      {graph_of({node("A", {}, {}).add(5, message().number(1, 5))}), "node 'A_0' is damaged"},
      {graph_of({node("A", {}, {}, "a").add(5, message().text(1, "k"))}),
       "node 'a', attribute 'k' has no type"},
      {message().number(11, 5), "its graph is damaged"},
      {message().add(15, message()), "has a sparse initializer, which is not supported"},
      {graph_of({in_graph(graph_of({node("Relu", {"gone"}, {"z"})}))}), "reads 'gone'"}};
  for (const auto& [written, expected] : cases) {
    EXPECT_THAT(problem(model(written)), HasSubstr(expected));
  }
  EXPECT_EQ(problem(model(graph_of({in_graph(message().add(1, node("Abs", {"x"}, {"z"})))}))),
            "none")
      << "the graph of a branch reads values of the graph around it";
  message deep = graph_of({});
  for (int i = 0; i < 17; ++i) deep = message().add(1, in_graph(deep));
  EXPECT_THAT(problem(model(deep)), HasSubstr("has graphs more than 16 deep"));
}

/// A model whose tensor has its data in a file.
class external_tensor : public testing::Test {
 protected:
  std::string problem_of(const std::vector<std::pair<std::string, std::string>>& entries,
                         int tensors = 1) {
    message graph;
    for (int i = 0; i < tensors; ++i) {
      auto written = tensor("w" + std::to_string(i), onnx_type::int32, {2}).number(14, 1);
      for (const auto& [key, said] : entries) written.add(13, message().text(1, key).text(2, said));
      graph.add(5, written);
    }
    try {
      read_ = parse(model(graph), folder_.path() / "model" / "m.onnx");
    } catch (const input_error& refusal) {
      return refusal.what();
    }
    return "none";
  }

  void SetUp() override {
    fs::create_directories(folder_.path() / "model" / "data");
    std::ofstream(folder_.path() / "secret", std::ios::binary) << "12345678";
    std::ofstream(folder_.path() / "model" / "data" / "w", std::ios::binary)
        << raw<std::int32_t>({1, 2, 3, 4});
  }

  temporary_folder folder_;
  onnx_model read_;
};

TEST_F(external_tensor, is_read) {
  EXPECT_EQ(problem_of({{"location", "data/w"}}), "none");
  EXPECT_THAT(std::get<2>(read_.graph.initializers.at(0).values), ElementsAre(1, 2));
  EXPECT_EQ(problem_of({{"location", "data/w"}, {"offset", "8"}, {"length", "8"}}), "none");
  EXPECT_THAT(std::get<2>(read_.graph.initializers.at(0).values), ElementsAre(3, 4));
  EXPECT_EQ(problem_of({{"location", "data/w"}}, 2), "none");
}

TEST_F(external_tensor, does_not_leave_the_folder_of_the_model) {
  fs::create_symlink("../secret", folder_.path() / "model" / "link");
  fs::create_symlink("data/w", folder_.path() / "model" / "inside");
  constexpr const char* outside =
      "which is not a path inside the model's folder; save the model again";
  for (const auto& path : {std::string("../secret"), std::string("data/../../secret"),
                           (folder_.path() / "secret").string(), std::string()}) {
    EXPECT_THAT(problem_of({{"location", path}}), HasSubstr(outside)) << path;
  }
  EXPECT_THAT(problem_of({}), HasSubstr(outside));
  EXPECT_THAT(problem_of({{"location", "link"}}),
              HasSubstr("cannot be read: initializer 'w0' has its data in 'link', a link out of"));
  EXPECT_THAT(problem_of({{"location", std::string("..\0/secret", 10)}}),
              HasSubstr("'..?/secret'"));
  EXPECT_EQ(problem_of({{"location", "inside"}}), "none");
}

/// As a cache of downloads holds them: blobs, and links to them under the files' own names.
TEST_F(external_tensor, may_lie_in_the_folder_to_which_the_model_is_a_link) {
  fs::create_directories(folder_.path() / "blobs");
  std::ofstream(folder_.path() / "blobs" / "1a") << "";
  std::ofstream(folder_.path() / "blobs" / "2b", std::ios::binary) << raw<std::int32_t>({5, 6});
  fs::create_symlink("../blobs/1a", folder_.path() / "model" / "m.onnx");
  fs::create_symlink("../blobs/2b", folder_.path() / "model" / "m.data");
  fs::create_symlink("../secret", folder_.path() / "model" / "link");
  EXPECT_EQ(problem_of({{"location", "m.data"}}), "none");
  EXPECT_THAT(std::get<2>(read_.graph.initializers.at(0).values), ElementsAre(5, 6));
  EXPECT_THAT(problem_of({{"location", "link"}}), HasSubstr("a link out of the model's folder"));
  EXPECT_THAT(problem_of({{"location", "../blobs/2b"}}), HasSubstr("which is not a path inside"));
}

TEST_F(external_tensor, has_all_its_data) {
  EXPECT_THAT(problem_of({{"location", "gone"}}), HasSubstr("in 'gone', which is not there"));
  EXPECT_THAT(problem_of({{"location", "data"}}), HasSubstr("is not a regular file"));
  EXPECT_THAT(problem_of({{"location", "data/w"}, {"offset", "9"}}),
              HasSubstr("which ends before"));
  EXPECT_THAT(problem_of({{"location", "data/w"}, {"offset", "17"}}),
              HasSubstr("which ends before"));
  EXPECT_THAT(problem_of({{"location", "data/w"}, {"length", "9"}}),
              HasSubstr("of another length than int32 [2] has; save"));
  for (const std::string number : {"-1", "", "1x", "99999999999999999999"}) {
    EXPECT_THAT(problem_of({{"location", "data/w"}, {"offset", number}}),
                HasSubstr("at an offset that is not a number"));
  }
  EXPECT_EQ(problem_of({{"location", "data/w"}}, 4), "none") << "tensors may share them";
  EXPECT_THAT(problem_of({{"location", "data/w"}}, 11), HasSubstr("in which tensors overlap"));
}

}  // namespace
}  // namespace graphline::nn
