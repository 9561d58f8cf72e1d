"""Tests of the floors check, on made-up includes."""

import unittest

import floors

ABOVE, KNOWN, ROOT = "does not stand above", "known only to", "project's root"

# A file, what it includes, and the reason if the floors forbid it.
INCLUDES = (
    # Its own folder and floors below, no floor above
    ("framework/base/error.hpp", '"framework/base/place.hpp"', ""),
    ("framework/base/units.cpp", "<vector>", ""),
    ("framework/run/execute/session.cpp", '"framework/plan/plan.hpp"', ""),
    ("framework/campaign/a.cpp", '"framework/run/execute/session.hpp"', ""),
    ("framework/campaign/a.cpp", '"framework/analysis/analyze.hpp"', ""),
    ("framework/analysis/a.cpp", '"framework/plan/schedules/schedule.hpp"', ""),
    ("stages/cpu/nms.cpp", '"stages/kinds.hpp"', ""),
    ("tools/graphline/main.cpp", '"framework/report/table.hpp"', ""),
    ("framework/base/error.hpp", '"framework/spec/node.hpp"', ABOVE),
    ("framework/analysis/a.cpp", '"framework/report/table.hpp"', ABOVE),
    ("framework/report/table.cpp", '"tools/graphline/run.hpp"', ABOVE),
    ("framework/plan/a.cpp", '"framework/analysis/a.hpp"', ABOVE),
    ("stages/matmul.cpp", '"framework/run/execute/session.hpp"', ABOVE),
    # No folder on the same floor
    ("framework/run/a.cpp", '"framework/analysis/analyze.hpp"', ABOVE),
    ("framework/analysis/a.cpp", '"framework/run/execute/slot.hpp"', ABOVE),
    ("framework/report/a.cpp", '"framework/campaign/a.hpp"', ABOVE),
    ("framework/spec/node.cpp", '"framework/device/device.hpp"', ABOVE),
    ("framework/stage/stage.hpp", '"framework/record/record.hpp"', ABOVE),
    ("stages/matmul.cpp", '"framework/plan/plan.hpp"', ABOVE),
    # The engine knows no stages, and its folders have floors
    ("stages/nn/yaml/layer_reader.hpp", '"stages/kinds.hpp"', ABOVE),
    ("stages/nn/yaml/layer_reader.hpp", '"framework/stage/stage.hpp"', ABOVE),
    ("stages/nn/yaml/layer_reader.hpp", '"framework/plan/plan.hpp"', ABOVE),
    ("stages/nn/yaml/layer_reader.hpp", '"framework/spec/node.hpp"', ""),
    ("stages/network.cpp", '"stages/nn/yaml/layer_reader.hpp"', ""),
    ("stages/nn/cuda/lowering/a.cpp", '"stages/nn/cuda/kernel_forms.hpp"', ""),
    ("stages/nn/cuda/a.cpp", '"stages/nn/cuda/lowering/b.hpp"', ABOVE),
    ("stages/nn/operations/a.hpp", '"stages/nn/layers/layers.hpp"', ABOVE),
    ("stages/nn/yaml/a.cpp", '"stages/nn/onnx/onnx_model.hpp"', ABOVE),
    # Only parts for a backend know it
    ("stages/traffic_host.cpp", '"framework/device/host/host_device.hpp"', ""),
    ("stages/nn/host/lowering.hpp", '"framework/device/host/host_device.hpp"', ""),
    ("tools/graphline/main.cpp", '"framework/device/host/host_device.hpp"', ""),
    ("framework/device/host/worker.cpp", '"framework/device/host/host_device.hpp"', ""),
    ("framework/device/devices.cpp", '"framework/device/host/host_device.hpp"', KNOWN),
    ("stages/matmul.cpp", '"framework/device/host/host_device.hpp"', KNOWN),
    ("framework/run/execute/a.cpp", '"framework/device/host/host_device.hpp"', KNOWN),
    ("stages/traffic_host.cpp", '"framework/device/cuda/a.hpp"', KNOWN),
    ("framework/run/execute/a.cpp", '"framework/device/model/model_device.hpp"', ""),
    ("framework/device/builtin/a.cpp", '"framework/device/model/model_device.hpp"', KNOWN),
    ("stages/nn/cuda/lowering/products.cpp", '"stages/nn/cuda/cuda_library.hpp"', ""),
    ("stages/network_cuda.cpp", '"stages/nn/cuda/lowering/lowering.hpp"', ""),
    ("stages/builtin.cpp", '"stages/nn/cuda/cuda_library.hpp"', ""),
    ("stages/network_stage.hpp", '"stages/nn/cuda/cuda_library.hpp"', KNOWN),
    ("tools/graphline/main.cpp", '"stages/nn/cuda/lowering/lowering.hpp"', KNOWN),
    # Libraries are known in their places
    ("framework/spec/yaml_reader.cpp", "<yaml-cpp/yaml.h>", ""),
    ("framework/spec/node.cpp", "<yaml-cpp/yaml.h>", "yaml-cpp"),
    ("framework/analysis/stats/confidence.cpp", "<boost/math/x.hpp>", ""),
    ("framework/analysis/stats/trend.cpp", "<boost/math/x.hpp>", "Boost"),
    ("framework/run/execute/task_pool.cpp", "<oneapi/tbb/flow_graph.h>", ""),
    ("framework/run/execute/session.cpp", "<tbb/task_arena.h>", "oneTBB"),
    ("stages/nn/host/products.cpp", "<oneapi/dnnl/dnnl.hpp>", ""),
    ("stages/nn/onednn/onednn_program.hpp", "<dnnl.hpp>", ""),
    ("stages/nn/fusion/fusion.cpp", "<dnnl.hpp>", "oneDNN"),
    ("stages/nn/cuda/kernels_cuda.cu", "<cudnn_frontend.h>", ""),
    ("framework/device/device.hpp", "<cuda_runtime.h>", "CUDA"),
    # The public header is for users; includes start at the root
    ("framework/graphline.hpp", '"framework/run/execute/session.hpp"', ""),
    ("framework/run/execute/session.cpp", '"framework/graphline.hpp"', KNOWN),
    ("framework/base/units.cpp", '"units.hpp"', ROOT),
    ("framework/base/units.cpp", '"../spec/node.hpp"', ROOT),
)


class Floors(unittest.TestCase):
    def test_includes_are_allowed_or_forbidden_with_a_reason(self):
        for path, included, why in INCLUDES:
            with self.subTest(path=path, included=included):
                found = floors.violations(path, f"#pragma once\n\n#include {included}\n")
                self.assertEqual(len(found), 1 if why else 0, found)
                if why:
                    self.assertTrue(found[0].startswith(f"{path}:3: error: "), found[0])
                    self.assertIn(why, found[0])

    def test_a_source_includes_its_own_header_first(self):
        files = {"stages/copy.cpp", "stages/copy.hpp", "tools/graphline/main.cpp"}
        own, other = '#include "stages/copy.hpp"\n', "#include <vector>\n"
        for path, text, bad in (("stages/copy.cpp", own + other, False),
                                ("stages/copy.hpp", other, False),
                                ("tools/graphline/main.cpp", own, False),
                                ("stages/copy.cpp", other + own, True)):
            self.assertEqual(bool(floors.own_header_violations(path, text, files)), bad, path)

    def test_strategies_are_named_by_the_planner_only(self):
        text = "// strategy::serial\nif (run.strategy == strategy::serial) return;\n"
        self.assertEqual(floors.name_violations("framework/plan/schedules/serial.cpp", text), [])
        found = floors.name_violations("framework/analysis/run/summary.cpp", text)
        self.assertEqual(len(found), 1)
        self.assertIn("summary.cpp:2: error: names strategy::serial", found[0])


if __name__ == "__main__":
    unittest.main()
