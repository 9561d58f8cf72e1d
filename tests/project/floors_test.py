"""Tests of the floors check itself, on includes made up for it."""

import unittest

import floors


def check(path, included):
    return floors.violations(path, f"#pragma once\n\n#include {included}\n")


class Floors(unittest.TestCase):
    def assert_allowed(self, path, included):
        self.assertEqual(check(path, included), [])

    def assert_forbidden(self, path, included, why):
        found = check(path, included)
        self.assertEqual(len(found), 1, f"{path} may include {included}")
        self.assertTrue(found[0].startswith(f"{path}:3: error: "), found[0])
        self.assertIn(why, found[0])

    def test_own_folder_and_floors_below_are_allowed(self):
        self.assert_allowed("framework/base/error.hpp", '"framework/base/place.hpp"')
        self.assert_allowed("framework/run/execute/session.cpp", '"framework/plan/plan.hpp"')
        self.assert_allowed("stages/cpu/nms.cpp", '"stages/kinds.hpp"')
        self.assert_allowed("tools/graphline/main.cpp", '"framework/report/table.hpp"')
        self.assert_allowed("framework/base/units.cpp", "<vector>")

    def test_a_source_includes_its_own_header_first(self):
        files = {"stages/copy.cpp", "stages/copy.hpp", "tools/graphline/main.cpp"}
        own, other = '#include "stages/copy.hpp"\n', "#include <vector>\n"
        self.assertEqual(floors.own_header_violations("stages/copy.cpp", own + other, files), [])
        self.assertEqual(floors.own_header_violations("stages/copy.hpp", other, files), [])
        self.assertEqual(
            floors.own_header_violations("tools/graphline/main.cpp", own, files), [])
        self.assertEqual(
            floors.own_header_violations("stages/copy.cpp", other + own, files),
            ["stages/copy.cpp:1: error: does not include stages/copy.hpp before all others"])

    def test_floors_above_are_forbidden(self):
        why = "does not stand above"
        self.assert_forbidden("framework/base/error.hpp", '"framework/spec/node.hpp"', why)
        self.assert_forbidden("stages/matmul.cpp", '"framework/run/execute/session.hpp"', why)
        self.assert_forbidden("framework/analysis/a.cpp", '"framework/report/table.hpp"', why)
        self.assert_forbidden("framework/report/table.cpp", '"tools/graphline/run.hpp"', why)

    def test_siblings_on_one_floor_do_not_know_each_other(self):
        why = "does not stand above"
        self.assert_forbidden("framework/run/a.cpp", '"framework/analysis/analyze.hpp"', why)
        self.assert_forbidden("framework/analysis/a.cpp", '"framework/run/execute/slot.hpp"', why)
        self.assert_forbidden("framework/report/a.cpp", '"framework/campaign/a.hpp"', why)
        self.assert_forbidden("framework/spec/node.cpp", '"framework/device/device.hpp"', why)
        self.assert_forbidden("framework/stage/stage.hpp", '"framework/record/record.hpp"', why)
        self.assert_forbidden("stages/matmul.cpp", '"framework/plan/plan.hpp"', why)
        self.assert_allowed("framework/analysis/a.cpp", '"framework/plan/schedules/schedule.hpp"')
        self.assert_forbidden("framework/plan/a.cpp", '"framework/analysis/a.hpp"', "stand above")

    def test_campaigns_know_runs_and_analysis(self):
        self.assert_allowed("framework/campaign/a.cpp", '"framework/run/execute/session.hpp"')
        self.assert_allowed("framework/campaign/a.cpp", '"framework/analysis/analyze.hpp"')

    def test_the_engine_knows_no_stages_and_its_folders_have_an_order(self):
        why = "does not stand above"
        for header in ('"stages/kinds.hpp"', '"framework/stage/stage.hpp"',
                       '"framework/plan/plan.hpp"'):
            self.assert_forbidden("stages/nn/yaml/layer_reader.hpp", header, why)
        self.assert_allowed("stages/network.cpp", '"stages/nn/yaml/layer_reader.hpp"')
        self.assert_allowed("stages/nn/yaml/layer_reader.hpp", '"framework/spec/node.hpp"')
        self.assert_allowed("stages/nn/cuda/lowering/a.cpp", '"stages/nn/cuda/kernel_forms.hpp"')
        self.assert_forbidden("stages/nn/cuda/a.cpp", '"stages/nn/cuda/lowering/b.hpp"', why)
        self.assert_forbidden("stages/nn/operations/a.hpp", '"stages/nn/layers/layers.hpp"', why)
        self.assert_forbidden("stages/nn/yaml/a.cpp", '"stages/nn/onnx/onnx_model.hpp"', why)

    def test_only_parts_made_for_a_backend_know_it(self):
        host = '"framework/device/host/host_device.hpp"'
        self.assert_allowed("stages/matmul_host.cpp", host)
        self.assert_allowed("stages/nn/host/lowering.hpp", host)
        self.assert_allowed("tools/graphline/main.cpp", host)
        self.assert_allowed("framework/device/host/worker.cpp", host)
        self.assert_forbidden("framework/device/devices.cpp", host, "known only to")
        self.assert_forbidden("stages/matmul.cpp", host, "known only to")
        self.assert_forbidden("framework/run/execute/session.cpp", host, "known only to")
        self.assert_forbidden("stages/matmul_host.cpp", '"framework/device/cuda/a.hpp"', "known")
        model = '"framework/device/model/model_device.hpp"'
        self.assert_allowed("framework/run/execute/a.cpp", model)
        self.assert_forbidden("framework/device/builtin/a.cpp", model, "known only to")

    def test_what_takes_a_cuda_toolkit_is_included_by_its_like_only(self):
        for header in ('"stages/nn/cuda/cuda_library.hpp"',
                       '"stages/nn/cuda/lowering/lowering.hpp"'):
            self.assert_allowed("stages/nn/cuda/lowering/products.cpp", header)
            self.assert_allowed("stages/network_cuda.cpp", header)
            self.assert_allowed("stages/builtin.cpp", header)
            self.assert_forbidden("stages/network_stage.hpp", header, "known only to")
            self.assert_forbidden("tools/graphline/main.cpp", header, "known only to")

    def test_libraries_are_known_in_their_places_only(self):
        self.assert_allowed("framework/spec/yaml_reader.cpp", "<yaml-cpp/yaml.h>")
        self.assert_forbidden("framework/spec/node.cpp", "<yaml-cpp/yaml.h>", "yaml-cpp")
        self.assert_allowed("framework/analysis/stats/confidence.cpp", "<boost/math/x.hpp>")
        self.assert_forbidden("framework/analysis/stats/trend.cpp", "<boost/math/x.hpp>", "Boost")
        self.assert_allowed("framework/run/execute/task_pool.cpp", "<oneapi/tbb/flow_graph.h>")
        self.assert_forbidden("framework/run/execute/session.cpp", "<tbb/task_arena.h>", "oneTBB")
        self.assert_allowed("stages/nn/host/single_products.cpp", "<oneapi/dnnl/dnnl.hpp>")
        self.assert_allowed("stages/nn/onednn/onednn_program.hpp", "<dnnl.hpp>")
        self.assert_forbidden("stages/nn/fusion/fusion.cpp", "<dnnl.hpp>", "oneDNN")
        self.assert_allowed("stages/nn/cuda/kernels_cuda.cu", "<cudnn_frontend.h>")
        self.assert_forbidden("framework/device/device.hpp", "<cuda_runtime.h>", "CUDA")

    def test_strategies_are_named_by_the_planner_only(self):
        text = "// strategy::serial\nif (run.strategy == strategy::serial) return;\n"
        self.assertEqual(floors.name_violations("framework/plan/schedules/serial.cpp", text), [])
        found = floors.name_violations("framework/analysis/run/summary.cpp", text)
        self.assertEqual(len(found), 1)
        self.assertIn("summary.cpp:2: error: names strategy::serial", found[0])

    def test_the_contents_page_is_for_users(self):
        page = '"framework/graphline.hpp"'
        self.assert_allowed("framework/graphline.hpp", '"framework/run/execute/session.hpp"')
        self.assert_forbidden("framework/run/execute/session.cpp", page, "known only to")

    def test_includes_start_at_the_root(self):
        self.assert_forbidden("framework/base/units.cpp", '"units.hpp"', "project's root")
        self.assert_forbidden("framework/base/units.cpp", '"../spec/node.hpp"', "project's root")


if __name__ == "__main__":
    unittest.main()
