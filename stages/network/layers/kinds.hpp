#pragma once

#include "stages/network/layer_kind.hpp"

namespace graphline {

// The kinds of layers, each defined in the file of its name or family.

layer_kind conv2d_kind();               // conv2d.cpp
layer_kind linear_kind();               // linear.cpp
layer_kind relu_kind();                 // activation.cpp
layer_kind relu6_kind();                // activation.cpp
layer_kind gelu_kind();                 // activation.cpp
layer_kind sigmoid_kind();              // activation.cpp
layer_kind silu_kind();                 // activation.cpp
layer_kind softmax_kind();              // softmax.cpp
layer_kind batch_norm2d_kind();         // batch_norm2d.cpp
layer_kind layer_norm_kind();           // layer_norm.cpp
layer_kind attention_kind();            // attention.cpp
layer_kind max_pool2d_kind();           // pool2d.cpp
layer_kind avg_pool2d_kind();           // pool2d.cpp
layer_kind adaptive_avg_pool2d_kind();  // adaptive_avg_pool2d.cpp
layer_kind flatten_kind();              // flatten.cpp
layer_kind add_kind();                  // add.cpp

}  // namespace graphline
