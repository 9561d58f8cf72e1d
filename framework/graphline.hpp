#pragma once

// Public API, for programs that use Graphline. Files of the framework do not include this header.

#include "framework/base/clock.hpp"         // nanoseconds and the host clock
#include "framework/base/diagnostic.hpp"    // errors and warnings, with their places in files
#include "framework/base/error.hpp"         // exceptions, with exit statuses
#include "framework/base/stop_request.hpp"  // ends a run early
#include "framework/base/tensor_type.hpp"   // shape, dtype, tensor_view
#include "framework/base/units.hpp"         // times, sizes and counts as text
#include "framework/base/words.hpp"         // strategy, timing_method and other enumerations

#include "framework/spec/pipeline_reader.hpp"  // reads a YAML file into a pipeline_spec
#include "framework/spec/pipeline_spec.hpp"    // a pipeline as declared in YAML or C++

#include "framework/stage/plugin_loader.hpp"   // loads stage kinds from shared libraries
#include "framework/stage/stage.hpp"           // the interface of a stage
#include "framework/stage/stage_registry.hpp"  // all stage kinds of a program
#include "framework/stage/value_check.hpp"     // finds values that a stage cannot compute with
#include "stages/builtin.hpp"                  // stage kinds included in Graphline

#include "framework/device/builtin/builtin_devices.hpp"  // devices included in Graphline
#include "framework/device/device.hpp"                   // streams, events, graphs and memory
#include "framework/device/devices.hpp"                  // finds a device by name, or the best one
#include "framework/device/host/host_device.hpp"         // a device of CPU threads

#include "framework/plan/cost_summary.hpp"  // FLOPs and bytes of each layer and stage
#include "framework/plan/plan.hpp"          // stages, copies, buffers and schedule
#include "framework/plan/planner.hpp"       // plans a pipeline_spec

#include "framework/plan/experiment_plan.hpp"    // the plan of every configuration
#include "framework/spec/experiment_reader.hpp"  // reads an experiment file into an experiment_spec

#include "framework/run/execute/frame_feed.hpp"  // submits frames of an application to a run
#include "framework/run/execute/session.hpp"     // prepares a plan, and runs it any number of times
#include "framework/run/pipeline/run_pipeline.hpp"  // plans and runs a file, text or spec

#include "framework/record/calibration_record.hpp"  // the ceilings of a device, with samples
#include "framework/record/capacity_record.hpp"     // the runs of a capacity search
#include "framework/record/experiment_record.hpp"   // the trials of all configurations
#include "framework/record/run_record.hpp"          // the raw samples of a run

#include "framework/analysis/analyze.hpp"  // the analysis that all reports of a run share
#include "framework/analysis/diff/experiment_diff.hpp"           // compares two experiments
#include "framework/analysis/experiment/capacity.hpp"            // rates that held, with intervals
#include "framework/analysis/experiment/experiment_summary.hpp"  // comparisons with verdicts
#include "framework/analysis/roofline/ceilings.hpp"              // the ceilings of a calibration
#include "framework/analysis/run/attribution.hpp"  // the critical path of a frame, in pieces
#include "framework/analysis/run/attribution_summary.hpp"  // attribution of a run
#include "framework/analysis/run/lower_bound.hpp"          // lower bounds of a frame's time
#include "framework/analysis/run/summary.hpp"              // percentiles and shares of a run
#include "framework/analysis/run/timeline.hpp"  // a run's time stamps in lanes, on one clock

#include "framework/campaign/calibrate/calibration.hpp"     // measures the ceilings of a device
#include "framework/campaign/capacity/capacity_search.hpp"  // finds the highest frame rate
#include "framework/campaign/experiment/experiment.hpp"     // runs the trials of an experiment
#include "framework/campaign/experiment/trial_runner.hpp"   // runs a single trial in this process

#include "framework/report/describe/describe.hpp"  // turns results into documents
#include "framework/report/document.hpp"           // facts, tables, charts and findings
#include "framework/report/render/render.hpp"      // documents as text, HTML, CSV, JSON, Markdown

#include "framework/report/csv/stamps_csv.hpp"           // runs and experiments as CSV
#include "framework/report/store/calibration_store.hpp"  // saves calibrations by device
#include "framework/report/store/record_reader.hpp"      // reads the record from a saved result
#include "framework/report/store/trial_store.hpp"        // saves each trial when it ends
#include "framework/report/trace/trace_json.hpp"         // writes a run as a trace for Perfetto
