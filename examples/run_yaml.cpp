// Runs a pipeline file on the host device and prints the table that `graphline run` prints.
//
//   example_run_yaml pipelines/two_models.yaml

#include <graphline.hpp>

#include <iostream>

int main(int argc, char** argv) {
  using namespace graphline;
  if (argc != 2) {
    std::cerr << "usage: example_run_yaml PIPELINE.yaml\n";
    return 2;
  }
  try {
    // Throws one error that lists all errors in the file.
    const run_record record = run_pipeline(argv[1], {.device = "host"}, {.frames = 20});

    std::cout << report::as_text(report::describe(record));
    if (record.failure) return 1;
    const auto& first = record.frames.front();
    std::cout << "the first frame took " << first.end - first.begin << " ns\n";
  } catch (const error& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(e.status());
  }
}
