#pragma once

// Graphline's contents page: everything a program needs, in the order in which a pipeline passes
// through it. A file of the framework includes what it needs itself, never this.

#include "framework/base/clock.hpp"         // nanoseconds, the host's clock
#include "framework/base/diagnostic.hpp"    // what is wrong with a file, with its place
#include "framework/base/error.hpp"         // what is thrown, and the exit status that goes with it
#include "framework/base/stop_request.hpp"  // to stop a run early
#include "framework/base/tensor_type.hpp"   // shape, dtype, tensor_view
#include "framework/base/units.hpp"         // times, sizes and counts as text
#include "framework/base/words.hpp"         // strategy, timing_method and the other choices

#include "framework/spec/pipeline_reader.hpp"  // a YAML file becomes a pipeline_spec
#include "framework/spec/pipeline_spec.hpp"    // a pipeline as declared, in YAML or in C++

#include "framework/stage/plugin_loader.hpp"   // kinds from the shared libraries that a file names
#include "framework/stage/stage.hpp"           // what a stage is; stages of your own
#include "framework/stage/stage_registry.hpp"  // the kinds of stage a program knows
#include "stages/builtin.hpp"                  // those that come with Graphline

#include "framework/device/builtin/builtin_devices.hpp"  // the devices that come with Graphline
#include "framework/device/device.hpp"            // streams, events, graphs and memory of a device
#include "framework/device/devices.hpp"           // the device of a name, or the best there is
#include "framework/device/host/host_device.hpp"  // the device made of CPU threads

#include "framework/plan/cost_summary.hpp"  // what a plan amounts to, layer by layer
#include "framework/plan/plan.hpp"          // what will happen
#include "framework/plan/planner.hpp"       // a pipeline_spec becomes a plan

#include "framework/plan/experiment_plan.hpp"    // every configuration of an experiment, planned
#include "framework/spec/experiment_reader.hpp"  // an experiment file becomes an experiment_spec

#include "framework/run/execute/frame_feed.hpp"  // frames that an application submits to a run
#include "framework/run/execute/session.hpp"  // a plan is made ready and run, as often as you like
#include "framework/run/pipeline/run_pipeline.hpp"  // a file, text or spec is planned and run, in a call each

#include "framework/record/calibration_record.hpp"  // what of a device is measured, and its samples
#include "framework/record/capacity_record.hpp"     // the runs of a search for the highest rate
#include "framework/record/experiment_record.hpp"   // the trials of all configurations
#include "framework/record/run_record.hpp"          // the raw samples of a run

#include "framework/analysis/analyze.hpp"               // all that reports of a run share
#include "framework/analysis/diff/experiment_diff.hpp"  // one saved experiment against another
#include "framework/analysis/experiment/capacity.hpp"  // which rates held, with the intervals that show it
#include "framework/analysis/experiment/experiment_summary.hpp"  // configurations compared, with verdicts
#include "framework/analysis/roofline/ceilings.hpp"  // figures of a calibration, and whether it still holds
#include "framework/analysis/run/attribution.hpp"  // the path that bounds a frame, piece by piece
#include "framework/analysis/run/attribution_summary.hpp"  // likewise for a run, and what makes frames slow
#include "framework/analysis/run/lower_bound.hpp"  // a time that no frame with these stage times can beat
#include "framework/analysis/run/summary.hpp"   // percentiles, spread and shares of a run
#include "framework/analysis/run/timeline.hpp"  // a run's stamps on one clock, in lanes

#include "framework/campaign/calibrate/calibration.hpp"  // what a device can do at best, measured
#include "framework/campaign/capacity/capacity_search.hpp"  // the highest rate of frames that stay within a bound
#include "framework/campaign/experiment/experiment.hpp"  // configurations against each other, trial by trial
#include "framework/campaign/experiment/trial_runner.hpp"  // single trials of an experiment, in this process

#include "framework/report/describe/describe.hpp"  // a result as a document, and two compared
#include "framework/report/document.hpp"           // facts, tables, charts and findings
#include "framework/report/render/render.hpp"      // a document as text, HTML, CSV, JSON, Markdown

#include "framework/report/csv/stamps_csv.hpp"  // runs and experiments as CSV, a row for each stamp
#include "framework/report/store/calibration_store.hpp"  // calibrations kept on disk, by device
#include "framework/report/store/record_reader.hpp"  // a saved result as the record it was made of
#include "framework/report/store/trial_store.hpp"    // trials kept on disk as they end
#include "framework/report/trace/trace_json.hpp"     // a run as a trace for timeline viewers
