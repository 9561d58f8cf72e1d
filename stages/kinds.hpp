#pragma once

#include "framework/stage/stage.hpp"

namespace graphline {

// The built-in stage kinds, each defined in the file of its name.

stage_kind network_kind();        // network/network.cpp
stage_kind matmul_kind();         // matmul.cpp
stage_kind gemv_kind();           // gemv/gemv.cpp
stage_kind traffic_kind();        // traffic.cpp
stage_kind copy_kind();           // copy.cpp
stage_kind random_normal_kind();  // cpu/random_normal.cpp
stage_kind spin_kind();           // cpu/spin.cpp
stage_kind images_kind();         // cpu/images.cpp
stage_kind top_k_kind();          // cpu/top_k.cpp
stage_kind nms_kind();            // cpu/nms.cpp

/// The work of a device stage that is one part.
class one_part_work : public device_work {
 public:
  void enqueue_in_parts(stream& s, part_marker& marker) final {
    enqueue(s);
    marker.part_enqueued(s);
  }
};

}  // namespace graphline
