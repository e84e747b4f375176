#ifndef TARA_CORE_BATCH_STONE_OF_DESTINY_LANES_H_
#define TARA_CORE_BATCH_STONE_OF_DESTINY_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/pair_choice.h"
#include "tara/core/batch/patterns.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"

namespace tara::batch {

// Stone of Destiny in lanes: the rules of tara/core/rules/stone_of_destiny.h
// by formulas without branches on a lane.
//
// Manoeuvres last 45 plies in every game: a few vectors of games play them in
// step. Battle then takes games from there one by one, into the lanes whose
// games have ended. A step of Battle is a turn, swap and link, so that here
// too all lanes do the same; and all change sides together, so that the parity
// of the step says which role moves.
template <InstructionSet kSet>
class StoneOfDestinyLanes {
 public:
  static void PlayAll(const PlayoutRequest& request, PlayoutSums& sums) {
    StoneOfDestinyLanes lanes(request);
    lanes.PlayToTheEnds(sums);
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kLanes = W::kLanes;
  // Several vectors, so that one computes while another waits for memory.
  static constexpr int kVectors = 4;
  static constexpr int kRingfortsPerSide = 23;

  // What a game has come to is counted in one word: legal actions, links,
  // plies.
  static constexpr int kLinksShift = 24;
  static constexpr int kPliesShift = 44;

  struct Position {
    W ringforts[2];  // by role
    W links_east;
    W links_north;
    W tally;
  };

  struct Games {
    Position position;
    W kings[2];
    W no_progress;
    W red_role;  // the role that Red plays
    W playing;   // 0: no game is left for this lane
    RandomLanes<kSet> random;
  };

  explicit TARA_INLINE StoneOfDestinyLanes(const PlayoutRequest& request)
      : request_(request) {}

  TARA_INLINE void PlayToTheEnds(PlayoutSums& sums) {
    for (Games& games : games_) {
      games = {};
      for (int lane = 0; lane < kLanes; ++lane) StartBattle(lane, 0, games);
    }
    while (playing_ > 0) {
      Turn<0>(sums);
      Turn<1>(sums);
    }
    ScoreFinished(sums);
  }

  // Plays the Manoeuvres of the next games, as many as there are lanes.
  [[gnu::noinline]] void PlayManoeuvres() {
    for (int k = 0; k < kVectors; ++k) {
      fresh_games_[k] = {};
      fresh_games_[k].random = RandomLanes<kSet>(
          request_.seed,
          static_cast<uint64_t>(request_.first_game + next_game_ + k * kLanes));
    }
    for (int ply = 0; ply < kNumHills; ply += 2) {
      Build<0>();
      if (ply < kNumHills - 1) Build<1>();
    }
    fresh_ = 0;
  }

  // One ply of Manoeuvres in all fresh games. Red has role 0.
  template <int kRole>
  TARA_INLINE void Build() {
    BitChoice<kSet> arrivals[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      Games& games = fresh_games_[i];
      const W(&ringforts)[2] = games.position.ringforts;
      const W vacant = W(kAllHills) & ~(ringforts[0] | ringforts[1]);
      const W near = WithinTwoStepsOfOne(games.kings[1 - kRole]) & vacant;
      const W targets = FirstNonEmpty(near, vacant);
      const W count = PopCount(targets);
      arrivals[i].Choose(targets, games.random.Below(count));
      games.position.tally += count;
    }
    for (int i = 0; i < kVectors; ++i) {
      const W arrival = arrivals[i].Chosen();
      fresh_games_[i].position.ringforts[kRole] |= arrival;
      fresh_games_[i].kings[kRole] = arrival;
    }
  }

  // Takes the next game, if one is left, into a lane; `role` moves first.
  TARA_INLINE void StartBattle(int lane, int role, Games& games) {
    if (next_game_ == request_.games) {
      games.playing.v[lane] = 0;
      return;
    }
    if (fresh_ == kVectors * kLanes) PlayManoeuvres();
    const Games& from = fresh_games_[fresh_ / kLanes];
    const int i = fresh_++ % kLanes;
    ++next_game_;
    ++playing_;
    for (int side = 0; side < 2; ++side) {
      // Blue moves first.
      const int to_role = role ^ 1 ^ side;
      games.position.ringforts[to_role].v[lane] =
          from.position.ringforts[side].v[i];
      games.kings[to_role].v[lane] = from.kings[side].v[i];
    }
    games.position.links_east.v[lane] = 0;
    games.position.links_north.v[lane] = 0;
    games.position.tally.v[lane] = from.position.tally.v[i];
    games.no_progress.v[lane] = 0;
    games.red_role.v[lane] = static_cast<uint64_t>(role ^ 1);
    games.playing.v[lane] = 1;
    games.random.CopyLane(lane, from.random, i);
  }

  // Ringforts of `enemy` that can be swapped, given the links. The side to
  // move always has a spare ringfort; the other never, so that a seat that is
  // out ends the game.
  static TARA_INLINE W Swappable(W enemy, W enemy_king, W links_east,
                                 W links_north) {
    return enemy & ~enemy_king &
           ~(links_east | East(links_east) | links_north | North(links_north));
  }

  // One turn of Battle of `kRole` in each lane.
  template <int kRole>
  TARA_INLINE void Turn(PlayoutSums& sums) {
    BitChoice<kSet> arrivals[kVectors];
    PairChoice<kSet> links[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      ChooseSwap<kRole>(games_[i], arrivals[i]);
    }
    for (int i = 0; i < kVectors; ++i) {
      Swap<kRole>(arrivals[i].Chosen(), games_[i]);
      ChooseLink<kRole>(games_[i], links[i]);
    }
    for (int i = 0; i < kVectors; ++i) {
      Games& games = games_[i];
      links[i].AddChosen(games.position.links_east, games.position.links_north);
      const M stalled =
          ~Less(games.no_progress, W(request_.options.no_progress_limit));
      const M out = IsZero(Swappable<kRole>(games));
      const unsigned ended = Bits((stalled | out) & NonZero(games.playing));
      if (ended != 0) [[unlikely]] {
        EndGames(ended, Bits(stalled), 1 - kRole, games, sums);
      }
    }
  }

  // Ringforts of the role that the other may swap. The side to move has a
  // spare ringfort and the other never: a seat that is out ends the game.
  template <int kRole>
  static TARA_INLINE W Swappable(const Games& games) {
    const W east = games.position.links_east;
    const W north = games.position.links_north;
    return games.position.ringforts[kRole] & ~games.kings[kRole] &
           ~(east | (east << 1) | north | (north << kRankStride));
  }

  template <int kRole>
  static TARA_INLINE void ChooseSwap(Games& games, BitChoice<kSet>& arrival) {
    const W targets = Swappable<1 - kRole>(games);
    const W count = PopCount(targets);
    arrival.Choose(targets, games.random.Below(count));
    games.position.tally += count + W(uint64_t{1} << kPliesShift);
  }

  template <int kRole>
  static TARA_INLINE void Swap(W arrival, Games& games) {
    games.position.ringforts[kRole] |= arrival;
    games.position.ringforts[1 - kRole] &= ~arrival;
    games.kings[kRole] = arrival;
  }

  template <int kRole>
  static TARA_INLINE void ChooseLink(Games& games, PairChoice<kSet>& link) {
    const W own = games.position.ringforts[kRole];
    link = PairChoice<kSet>(
        own & (own >> 1) & ~games.position.links_east,
        own & (own >> kRankStride) & ~games.position.links_north);
    const W count = link.Count();
    const RandomLanes<kSet> before = games.random;
    link.Choose(games.random.Below(count));
    constexpr uint64_t kLinked =
        (uint64_t{1} << kPliesShift) + (uint64_t{1} << kLinksShift);
    const M linked = NonZero(count);
    games.position.tally += count + KeepIf(linked, W(kLinked));
    games.no_progress = KeepIf(~linked, games.no_progress + W(1));
    if (Any(~linked)) [[unlikely]]
      games.random.Restore(~linked, before);
  }

  // Notes the games that have ended and takes the next into their lanes.
  TARA_INLINE void EndGames(unsigned ended, unsigned stalled, int next_role,
                            Games& games, PlayoutSums& sums) {
    const Position& position = games.position;
    for (; ended != 0; ended &= ended - 1) {
      const int lane = __builtin_ctz(ended);
      const int i = finished_;
      for (int side = 0; side < 2; ++side) {
        const int role = static_cast<int>(games.red_role.v[lane]) ^ side;
        done_.ringforts[side].v[i] = position.ringforts[role].v[lane];
      }
      done_.links_east.v[i] = position.links_east.v[lane];
      done_.links_north.v[i] = position.links_north.v[lane];
      done_.tally.v[i] = position.tally.v[lane];
      endings_.v[i] = static_cast<uint64_t>(
          (stalled >> lane) & 1 ? Ending::kNoProgress : Ending::kOut);
      --playing_;
      StartBattle(lane, next_role, games);
      if (++finished_ == kLanes) ScoreFinished(sums);
    }
  }

  // Scores the games that have been noted.
  [[gnu::noinline]] void ScoreFinished(PlayoutSums& sums) {
    const M mask = FirstLanes<kSet>(finished_);
    finished_ = 0;
    const W lead =
        request_.options.link_all_at_end
            ? KingdomLead<kSet>(done_.ringforts[0], done_.ringforts[1])
            : CountKingdomsByLinks(1) - CountKingdomsByLinks(0);
    const W territory =
        PopCount(done_.ringforts[0]) - PopCount(done_.ringforts[1]);
    const W plies = W(kNumHills) + (done_.tally >> kPliesShift);
    const W links = (done_.tally >> kLinksShift) &
                    W((uint64_t{1} << (kPliesShift - kLinksShift)) - 1);
    AddGames(
        mask,
        {.length = plies,
         .legal_actions = done_.tally & W((uint64_t{1} << kLinksShift) - 1),
         .margin = TwoTierMargin(lead, territory),
         .ending = endings_},
        sums);
    sums.phase_plies[1] += Sum(KeepIf(mask, W(kNumHills)));
    sums.phase_plies[2] += Sum(KeepIf(mask, plies - links - W(kNumHills)));
    sums.phase_plies[3] += Sum(KeepIf(mask, links));
  }

  W CountKingdomsByLinks(int side) const {
    W kingdoms;
    for (int i = 0; i < kLanes; ++i) {
      State state = {};
      state.ringforts = {done_.ringforts[0].v[i], done_.ringforts[1].v[i]};
      state.links_east = done_.links_east.v[i];
      state.links_north = done_.links_north.v[i];
      state.variant = Variant::kStoneOfDestiny;
      kingdoms.v[i] = static_cast<uint64_t>(tara::CountKingdoms(state, side));
    }
    return kingdoms;
  }

  const PlayoutRequest request_;
  int64_t next_game_ = 0;
  int64_t playing_ = 0;
  int fresh_ = kVectors * kLanes;  // games taken of fresh_games_
  int finished_ = 0;               // games noted in done_
  Position done_;                  // arrays by side
  W endings_;
  Games games_[kVectors];
  Games fresh_games_[kVectors];  // at the start of Battle; Red has role 0
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_STONE_OF_DESTINY_LANES_H_
