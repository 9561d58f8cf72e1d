#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace graphline {

/// A candidate's place in a race against the leader, the candidate with the lowest mean score.
enum class race_place {
  leads,
  same,   ///< at most `margin` above the leader
  worse,  ///< above the leader
  open,   ///< neither is certain
};

/// Judges candidates by their scores in blocks: `scores[candidate][block]`, less is better, equal
/// numbers of blocks. Without two blocks, all but the leader are open.
///
/// The interval of a candidate's mean difference to the leader pairs scores by block. Few blocks
/// say little about the spread of the differences, so the spread of the other candidates'
/// differences counts as much as four further blocks (moderated t: Smyth, "Linear models and
/// empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3, 2004). The level is 5 % divided by
/// the number of comparisons.
std::vector<race_place> judge_race(std::span<const std::vector<double>> scores, double margin);

}  // namespace graphline
