#ifndef TARA_CORE_BATCH_LINK_GAMES_H_
#define TARA_CORE_BATCH_LINK_GAMES_H_

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/stone_of_destiny.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::batch {

// The choice of the n-th among two boards at once, by hill and for each hill
// first from `first`, then from `second`: pairs of hills, east before north.
//
// The byte of eight hills that has the n-th pair is found from the counts of
// all bytes, summed up side by side; its two times eight bits, interleaved,
// then are one small board.
template <InstructionSet kSet>
class PairChoice {
 public:
  using W = Word<kSet>;

  PairChoice() = default;
  TARA_INLINE PairChoice(W first, W second) : first_(first), second_(second) {
    W sums = ByteCounts(first) + ByteCounts(second);
    sums += sums << 8;
    sums += sums << 16;
    sums_ = sums + (sums << 32);
  }

  TARA_INLINE W Count() const { return sums_ >> 56; }

  // Like BitChoice: choose early, use late. REQUIRES: n < 128.
  TARA_INLINE void Choose(W n) {
    // The high bit of each byte whose sum is at most n: of those before. What
    // is not before the seventh is in the eighth.
    const W low_bytes = MultiplyLow32(n, W(0x01010101));
    const W bytes = low_bytes | (low_bytes << 32);
    const W before =
        ((bytes | W(0x8080808080808080)) - sums_) & W(0x0080808080808080);
    shift_ = batch::Count(before) << 3;
    const W rest = n - (((sums_ << 8) >> shift_) & W(0xff));
    const W bits = Spread(((first_ >> shift_) & W(0xff)) |
                          (((second_ >> shift_) & W(0xff)) << 16));
    choice_.Choose((bits | (bits >> 15)) & W(0xffff), rest);
  }

  // Adds the chosen pair, if any, to one of the boards.
  TARA_INLINE void AddChosen(W& first, W& second) const {
    const W bit = choice_.Chosen();
    const W bits = Gathered((bit & W(0x5555)) | ((bit & W(0xaaaa)) << 15));
    first |= (bits & W(0xff)) << shift_;
    second |= (bits >> 16) << shift_;
  }

 private:
  // Bits 0 to 7 of each half go to its even bits.
  static TARA_INLINE W Spread(W bits) {
    bits = (bits | (bits << 4)) & W(0x0f0f0f0f);
    bits = (bits | (bits << 2)) & W(0x33333333);
    return (bits | (bits << 1)) & W(0x55555555);
  }

  // The inverse of Spread.
  static TARA_INLINE W Gathered(W bits) {
    bits = (bits | (bits >> 1)) & W(0x33333333);
    bits = (bits | (bits >> 2)) & W(0x0f0f0f0f);
    return (bits | (bits >> 4)) & W(0x00ff00ff);
  }

  W first_;
  W second_;
  W sums_;  // by byte, of the bits in it and in those before
  W shift_;
  BitChoice<kSet> choice_;
};

// Games of Stone of Destiny in lanes, by the formulas of Rules
// (tara/core/rules/stone_of_destiny.h) without branches on a lane.
// Manoeuvres end with the 45th ringfort in every game: a few vectors of games
// play them in lockstep. Battle then takes these games one by one, and after
// them the games that start in Battle, into the lanes whose games have ended. A
// step of Battle is a turn, swap and link, so that here too all lanes do the
// same; and all change sides together, so that the parity of the step says
// which role moves.
//
// Several vectors, so that one computes while another waits for memory.
template <InstructionSet kSet, typename Rules, typename Jobs, int kVectors>
class LinkLanes {
 public:
  using Results = typename Jobs::Results;

  // Games that start in Manoeuvres, in the order of their ringforts; in Battle.
  TARA_INLINE LinkLanes(const RuleOptions& options, const Jobs& in_manoeuvres,
                        const Jobs& in_battle, Results& results)
      : options_(options),
        in_manoeuvres_(in_manoeuvres),
        in_battle_(in_battle),
        results_(results) {}

  // Plays all games.
  TARA_INLINE void Play() {
    for (Games& games : games_) {
      games = {};
      for (int lane = 0; lane < kLanes; ++lane) StartBattle(lane, 0, games);
    }
    while (playing_ > 0) {
      Turn<0>();
      Turn<1>();
    }
    if (finished_ > 0) ScoreFinished();
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kLanes = W::kLanes;

  // What a game has come to, in one word: legal actions, links, plies.
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
    W link_due;  // 1: the game starts after the swap of its first turn
    RandomLanes<kSet> random;
    uint64_t ids[kLanes];
  };

  // Plays the Manoeuvres of the next games, one per lane.
  [[gnu::noinline]] void PlayManoeuvres() {
    uint64_t fewest = kNumHills;
    for (Games& games : fresh_games_) {
      games = {};
      for (int lane = 0; lane < kLanes && !in_manoeuvres_.empty(); ++lane) {
        const Job job = in_manoeuvres_.Take(lane, games.random);
        const State& start = job.start;
        uint64_t built = 0;
        if constexpr (!Jobs::kStatistics) {
          built = static_cast<uint64_t>(__builtin_popcountll(
              At(start.ringforts, 0) | At(start.ringforts, 1)));
          // Where Blue has begun, after a swap of the pie rule, it has role 0.
          const int red_role = static_cast<int>((built + start.seat) & 1);
          for (int side = 0; side < 2; ++side) {
            games.position.ringforts[red_role ^ side].v[lane] =
                At(start.ringforts, side);
            games.kings[red_role ^ side].v[lane] = At(start.kings, side);
          }
          games.red_role.v[lane] = static_cast<uint64_t>(red_role);
        }
        if (built < fewest) fewest = built;
        games.ids[lane] = job.id;
        ++fresh_;
      }
    }
    // Role 0 builds the first ringfort, the third and so on.
    for (uint64_t built = fewest & ~uint64_t{1}; built < kNumHills;
         built += 2) {
      Build<0>(built);
      if (built < kNumHills - 1) Build<1>(built + 1);
    }
    next_fresh_ = 0;
  }

  // One ply of Manoeuvres in all fresh games that have `built` ringforts.
  template <int kRole>
  TARA_INLINE void Build(uint64_t built) {
    BitChoice<kSet> arrivals[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      Games& games = fresh_games_[i];
      const rules::BoardView<W> view = ViewOf<kRole>(games);
      const W targets = Rules::ManoeuvresTargets(view);
      const W count = Count(targets);
      if constexpr (Jobs::kStatistics) {
        arrivals[i].Choose(targets, games.random.Below(count));
      } else {
        const M later = Less(Count(view.vacant()), W(kNumHills - built));
        const RandomLanes<kSet> before = games.random;
        arrivals[i].Choose(KeepIf(!later, targets), games.random.Below(count));
        games.random.Restore(later, before);
      }
      games.position.tally += count;
    }
    for (int i = 0; i < kVectors; ++i) {
      Games& games = fresh_games_[i];
      const W arrival = arrivals[i].Chosen();
      games.position.ringforts[kRole] |= arrival;
      games.kings[kRole] = Jobs::kStatistics ? arrival
                                             : Select(NonZero(arrival), arrival,
                                                      games.kings[kRole]);
    }
  }

  // Takes the next game, if one is left, into a lane; `role` moves first.
  TARA_INLINE void StartBattle(int lane, int role, Games& games) {
    if (fresh_ == 0 && !in_manoeuvres_.empty()) PlayManoeuvres();
    if (fresh_ > 0) {
      StartAfterManoeuvres(lane, role, games);
    } else if (!in_battle_.empty()) {
      StartInBattle(lane, role, games);
    } else {
      games.playing.v[lane] = 0;
      return;
    }
    games.playing.v[lane] = 1;
    ++playing_;
  }

  TARA_INLINE void StartAfterManoeuvres(int lane, int role, Games& games) {
    const Games& from = fresh_games_[next_fresh_ / kLanes];
    const int i = next_fresh_++ % kLanes;
    --fresh_;
    const int change = role ^ 1;  // of roles: role 1 moves first
    for (int before = 0; before < 2; ++before) {
      games.position.ringforts[before ^ change].v[lane] =
          from.position.ringforts[before].v[i];
      games.kings[before ^ change].v[lane] = from.kings[before].v[i];
    }
    games.position.links_east.v[lane] = 0;
    games.position.links_north.v[lane] = 0;
    games.position.tally.v[lane] = from.position.tally.v[i];
    games.no_progress.v[lane] = 0;
    games.red_role.v[lane] = from.red_role.v[i] ^ static_cast<uint64_t>(change);
    games.random.CopyLane(lane, from.random, i);
    games.ids[lane] = from.ids[i];
  }

  TARA_INLINE void StartInBattle(int lane, int role, Games& games) {
    const Job job = in_battle_.Take(lane, games.random);
    const State& start = job.start;
    const int red_role = role ^ (start.seat & 1);
    for (int side = 0; side < 2; ++side) {
      games.position.ringforts[red_role ^ side].v[lane] =
          At(start.ringforts, side);
      games.kings[red_role ^ side].v[lane] = At(start.kings, side);
    }
    games.position.links_east.v[lane] = start.links_east;
    games.position.links_north.v[lane] = start.links_north;
    games.position.tally.v[lane] = 0;
    games.no_progress.v[lane] = start.no_progress;
    games.red_role.v[lane] = static_cast<uint64_t>(red_role);
    games.link_due.v[lane] = start.phase == Phase::kLink;
    games.ids[lane] = job.id;
  }

  // One turn of Battle of `kRole` in each lane.
  template <int kRole>
  TARA_INLINE void Turn() {
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
      const M stalled = !Less(games.no_progress, W(options_.no_progress_limit));
      // The side to move has a spare ringfort: if it is out, the game is over.
      const M out = IsZero(Rules::Swappable(ViewOf<1 - kRole>(games)));
      const unsigned ended = Bits((stalled | out) & NonZero(games.playing));
      if (ended != 0) [[unlikely]] {
        EndGames(ended, Bits(stalled), 1 - kRole, games);
      }
    }
  }

  template <int kRole>
  static TARA_INLINE rules::BoardView<W> ViewOf(const Games& games) {
    return {.own = games.position.ringforts[kRole],
            .enemy = games.position.ringforts[1 - kRole],
            .own_kings = games.kings[kRole],
            .enemy_kings = games.kings[1 - kRole],
            .links_east = games.position.links_east,
            .links_north = games.position.links_north};
  }

  template <int kRole>
  static TARA_INLINE void ChooseSwap(Games& games, BitChoice<kSet>& arrival) {
    W targets = Rules::Swappable(ViewOf<kRole>(games));
    if constexpr (!Jobs::kStatistics) {
      targets = KeepIf(IsZero(games.link_due), targets);
    }
    const W count = Count(targets);
    const RandomLanes<kSet> before = games.random;
    arrival.Choose(targets, games.random.Below(count));
    if constexpr (!Jobs::kStatistics) {
      games.random.Restore(NonZero(games.link_due), before);
    }
    games.position.tally += count + W(uint64_t{1} << kPliesShift);
  }

  template <int kRole>
  static TARA_INLINE void Swap(W arrival, Games& games) {
    games.position.ringforts[kRole] |= arrival;
    games.position.ringforts[1 - kRole] &= ~arrival;
    if constexpr (Jobs::kStatistics) {
      games.kings[kRole] = arrival;
    } else {
      games.kings[kRole] =
          Select(IsZero(games.link_due), arrival, games.kings[kRole]);
      games.link_due = W(uint64_t{0});
    }
  }

  template <int kRole>
  static TARA_INLINE void ChooseLink(Games& games, PairChoice<kSet>& link) {
    const rules::Links<W> links = Rules::Linkable(ViewOf<kRole>(games));
    link = PairChoice<kSet>(links.east, links.north);
    const W count = link.Count();
    const RandomLanes<kSet> before = games.random;
    link.Choose(games.random.Below(count));
    constexpr uint64_t kLinked =
        (uint64_t{1} << kPliesShift) + (uint64_t{1} << kLinksShift);
    const M linked = NonZero(count);
    games.position.tally += count + KeepIf(linked, W(kLinked));
    games.no_progress = KeepIf(!linked, games.no_progress + W(1));
    if (Any(!linked)) [[unlikely]]
      games.random.Restore(!linked, before);
  }

  // Notes the games that have ended and takes the next into their lanes.
  TARA_INLINE void EndGames(unsigned ended, unsigned stalled, int next_role,
                            Games& games) {
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
      done_ids_[i] = games.ids[lane];
      endings_.v[i] = static_cast<uint64_t>(
          (stalled >> lane) & 1 ? Ending::kNoProgress : Ending::kOut);
      --playing_;
      StartBattle(lane, next_role, games);
      if (++finished_ == kLanes) ScoreFinished();
    }
  }

  // Scores the games that have been noted.
  [[gnu::noinline]] void ScoreFinished() {
    rules::BoardView<W> red = {.own = done_.ringforts[0],
                               .enemy = done_.ringforts[1],
                               .links_east = done_.links_east,
                               .links_north = done_.links_north,
                               .options = &options_};
    Rules::LinkAllAtEnd(red);
    const W margin = rules::Margin<Rules>(red);
    if constexpr (Jobs::kStatistics) {
      AddStatistics(FirstLanes<kSet>(finished_), margin);
    } else {
      WriteMargins(margin, done_ids_, finished_, results_);
    }
    finished_ = 0;
  }

  TARA_INLINE void AddStatistics(M mask, W margin) {
    PlayoutStatistics& sums = results_;
    const W plies = W(kNumHills) + (done_.tally >> kPliesShift);
    const W links = (done_.tally >> kLinksShift) &
                    W((uint64_t{1} << (kPliesShift - kLinksShift)) - 1);
    AddGames(
        mask,
        {.length = plies,
         .legal_actions = done_.tally & W((uint64_t{1} << kLinksShift) - 1),
         .margin = margin,
         .ending = endings_},
        sums);
    sums.phase_plies[1] += Sum(KeepIf(mask, W(kNumHills)));
    sums.phase_plies[2] += Sum(KeepIf(mask, plies - links - W(kNumHills)));
    sums.phase_plies[3] += Sum(KeepIf(mask, links));
  }

  const RuleOptions options_;
  Jobs in_manoeuvres_;
  Jobs in_battle_;
  Results& results_;
  int64_t playing_ = 0;
  int fresh_ = 0;       // games left in fresh_games_
  int next_fresh_ = 0;  // the first of them
  int finished_ = 0;    // games noted in done_
  Position done_ = {};  // arrays by side
  W endings_;
  uint64_t done_ids_[kLanes];
  Games games_[kVectors];
  Games fresh_games_[kVectors];  // at the start of Battle
};

template <InstructionSet kSet, typename Rules>
struct LinkGames {
  static void PlayAll(const PlayoutRequest& request, PlayoutStatistics& sums) {
    PlayoutRequest none = request;
    none.games = 0;
    LinkLanes<kSet, Rules, RunJobs<kSet>, kMaxVectors> lanes(
        request.start.options, RunJobs<kSet>(request), RunJobs<kSet>(none),
        sums);
    lanes.Play();
  }

  static void PlayFrom(const PlayoutsFromRequest& request) {
    int64_t manoeuvres = 0;
    while (manoeuvres < request.count &&
           request.starts[request.order[manoeuvres]].phase ==
               Phase::kManoeuvres) {
      ++manoeuvres;
    }
    const PositionJobs<kSet> in_manoeuvres(request, 0, manoeuvres);
    const PositionJobs<kSet> in_battle(request, manoeuvres, request.count);
    Margins margins = {request.margins};
    WithVectorsFor<kSet, kMaxVectors>(
        in_manoeuvres.left() + in_battle.left(), [&]<int kVectors>() {
          LinkLanes<kSet, Rules, PositionJobs<kSet>, kVectors> lanes(
              OptionsOf(request), in_manoeuvres, in_battle, margins);
          lanes.Play();
        });
  }

 private:
  static constexpr int kMaxVectors = 4;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_LINK_GAMES_H_
