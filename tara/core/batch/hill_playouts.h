#ifndef TARA_CORE_BATCH_HILL_PLAYOUTS_H_
#define TARA_CORE_BATCH_HILL_PLAYOUTS_H_

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::batch {

// Vectors of games without kings and links, as they are between two choices.
template <InstructionSet kSet>
struct HillLanes {
  using W = Word<kSet>;

  W own;
  W enemy;
  // Once a seat is out: rounds to the end and 1. Else 0.
  W closing;
  W in_manoeuvres;  // at the start: 1 or 0
  W id;
  RandomLanes<kSet> random;
};

// The games of a request whose first turn belongs to one seat, laid out for
// lanes. They are prepared in groups, because seeding a stream is a long chain
// of multiplications, and chains can run in parallel.
template <InstructionSet kSet>
class HillStarts {
 public:
  // Those at places `begin` to `end` - 1 of the request's order.
  TARA_INLINE HillStarts(const PlayoutsFromRequest& request, int seat,
                         int64_t begin, int64_t end)
      : request_(request),
        side_(seat & 1),
        next_place_(begin),
        unprepared_((end - begin) * request.playouts) {}

  TARA_INLINE bool empty() const {
    return next_ == prepared_ && unprepared_ == 0;
  }

  // Begins a game in each of the lanes, as long as there are any. Returns the
  // lanes that have got one. REQUIRES: !empty().
  TARA_INLINE unsigned StartGames(unsigned lanes, HillLanes<kSet>& games) {
    if (next_ == prepared_) Prepare();
    while (PopCountOf(lanes) > prepared_ - next_) lanes &= lanes - 1;
    Take(own_, lanes, games.own);
    Take(enemy_, lanes, games.enemy);
    Take(closing_, lanes, games.closing);
    Take(in_manoeuvres_, lanes, games.in_manoeuvres);
    Take(ids_, lanes, games.id);
    for (int i = 0; i < 4; ++i) {
      games.random.SetWord(
          i, Expanded(lanes, words_[i] + next_, games.random.WordAt(i)));
    }
    next_ += PopCountOf(lanes);
    return lanes;
  }

 private:
  using W = Word<kSet>;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kCapacity = 64;
  // Whole vectors are read from any game on.
  static constexpr int kSize = kCapacity + kLanes;

  static TARA_INLINE int PopCountOf(unsigned bits) {
    return __builtin_popcount(bits);
  }

  TARA_INLINE void Take(const uint64_t* prepared, unsigned lanes, W& word) {
    word = Expanded(lanes, prepared + next_, word);
  }

  [[gnu::noinline]] void Prepare() {
    alignas(64) uint64_t seeds[kSize];
    alignas(64) uint64_t playouts[kSize];
    next_ = 0;
    prepared_ = 0;
    while (prepared_ < kCapacity && unprepared_ > 0) {
      const int i = prepared_++;
      --unprepared_;
      const int64_t index = request_.order[next_place_];
      const State& start = request_.starts[index];
      own_[i] = At(start.ringforts, side_);
      enemy_[i] = At(start.ringforts, 1 - side_);
      closing_[i] = start.ending == Ending::kNone ? 0 : start.turns_left + 1u;
      in_manoeuvres_[i] = start.phase == Phase::kManoeuvres;
      seeds[i] = request_.seeds[index];
      playouts[i] = static_cast<uint64_t>(next_playout_);
      ids_[i] =
          static_cast<uint64_t>(index * request_.playouts + next_playout_);
      if (++next_playout_ == request_.playouts) {
        next_playout_ = 0;
        ++next_place_;
      }
    }
    for (int i = 0; i < kLanes; ++i) {
      seeds[prepared_ + i] = playouts[prepared_ + i] = 0;
    }
    for (int i = 0; i < prepared_; i += kLanes) {
      const RandomLanes<kSet> random(W::Load(seeds + i), W::Load(playouts + i));
      for (int k = 0; k < 4; ++k) random.WordAt(k).Store(words_[k] + i);
    }
  }

  const PlayoutsFromRequest& request_;
  const int side_;
  int64_t next_place_;  // of the first game not yet prepared
  int next_playout_ = 0;
  int64_t unprepared_;
  // Games prepared and not yet taken: from next_ to prepared_ - 1.
  int next_ = 0;
  int prepared_ = 0;
  uint64_t own_[kSize];
  uint64_t enemy_[kSize];
  uint64_t closing_[kSize];
  uint64_t in_manoeuvres_[kSize];
  uint64_t ids_[kSize];
  uint64_t words_[4][kSize];  // of the streams
};

// Playouts from given positions of the games of hill_games.h, by the same
// rules in lanes. Positions differ in how much is left to play: a lane whose
// game is over continues with another one soon after, in a turn of the seat
// that moves there. So in every round the same seat moves in all lanes. It is
// looked after every four rounds: with each wrong guess that a game has ended
// the processor loses the rounds of other vectors that have begun.
template <InstructionSet kSet, typename Rules>
class HillPlayouts {
 public:
  static void PlayFrom(const PlayoutsFromRequest& request) {
    HillPlayouts playouts(request);
    playouts.Play();
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kSeats = Rules::kSeats;
  // The number that the processor can overlap (see hill_games.h).
  static constexpr int kMaxVectors = 6;
  static constexpr unsigned kAllLanes = (1u << kLanes) - 1;
  // Value of HillLanes::closing.
  static constexpr uint64_t kOver = 1;

  struct Vector {
    HillLanes<kSet> games;
    // The hill chosen in the last round: see BitChoice.
    BitChoice<kSet> choice;
    M manoeuvres;
    unsigned idle;  // lanes without a game; there `closing` is 1 too
  };

  explicit TARA_INLINE HillPlayouts(const PlayoutsFromRequest& request)
      : options_(OptionsOf(request)),
        starts_{StartsOf(request, 0), StartsOf(request, 1),
                StartsOf(request, 2), StartsOf(request, 3)},
        margins_{request.margins},
        waiting_(request.count * request.playouts) {
    const int64_t needed = (waiting_ + kLanes - 1) / kLanes;
    vectors_in_use_ =
        needed < kMaxVectors ? static_cast<int>(needed) : kMaxVectors;
    for (int i = 0; i < vectors_in_use_; ++i) {
      Vector& vector = vectors_[i];
      vector.games = {};
      vector.games.closing = W(kOver);
      vector.games.random = RandomLanes<kSet>(0, 0);
      vector.choice.Clear();
      vector.manoeuvres = M(false);
      vector.idle = kAllLanes;
    }
  }

  // The games whose first turn is the seat's.
  static TARA_INLINE HillStarts<kSet> StartsOf(
      const PlayoutsFromRequest& request, int seat) {
    return {request, seat, FirstOfSeat(request, seat),
            FirstOfSeat(request, seat + 1)};
  }

  // The first place in the order whose seat is the given one or a later.
  static TARA_INLINE int64_t FirstOfSeat(const PlayoutsFromRequest& request,
                                         int seat) {
    int64_t first = 0, end = request.count;
    while (first < end) {
      const int64_t middle = (first + end) / 2;
      if (request.starts[request.order[middle]].seat < seat) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }

  TARA_INLINE void Play() {
    while (vectors_in_use_ > 0) {
      Round<0>();
      Round<1>();
      Round<2>();
      Round<3>();
    }
    if (noted_ > 0) ScoreNoted();
  }

  // A turn of the same seat in every lane.
  template <int kRound>
  TARA_INLINE void Round() {
    constexpr int kSeat = kRound % kSeats;
    // Once in four rounds for each seat.
    constexpr bool kMayStart = kSeats == 4 || kRound == 0 || kRound == 3;
    const bool look_after_ended = kMayStart && (!starts_[kSeat].empty() ||
                                                (kRound == 0 && waiting_ == 0));
    for (int i = 0; i < vectors_in_use_; ++i) {
      Vector& vector = vectors_[i];
      HillLanes<kSet>& games = vector.games;
      BeginRound(vector.choice, games.own, games.enemy);
      M over = Equal(games.closing, W(kOver));
      if (look_after_ended && Any(over)) {
        NoteEnded<kSeat>(Bits(over) & ~vector.idle, vector);
        if (!starts_[kSeat].empty()) {
          StartGames<kSeat>(vector);
          over = Equal(games.closing, W(kOver));
        } else if (vector.idle == kAllLanes && waiting_ == 0) {
          vector = vectors_[--vectors_in_use_];
          --i;
          continue;
        }
      }
      const rules::BoardView<W> view = {.own = games.own,
                                        .enemy = games.enemy,
                                        .seat = kSeat,
                                        .options = &options_};
      const W legal =
          KeepIf(!over, LegalInAnyPhase<Rules>(view, vector.manoeuvres));
      const M acting = NonZero(legal);
      // Who is out announces the end; then every turn is one of those left.
      const M open = IsZero(games.closing);
      games.closing -= KeepIf(Less(W(kOver), games.closing), W(1));
      const uint64_t last_turns = options_.last_turns ? kSeats - 1 : 0;
      games.closing =
          Select(open & !acting, W(kOver + last_turns), games.closing);
      // Only who acts draws a number.
      RandomLanes<kSet> random = games.random;
      const W draw = random.Below(Count(legal));
      random.Restore(!acting, games.random);
      games.random = random;
      vector.choice.Choose(legal, draw);
    }
  }

  // Takes games that are over out of their lanes, to be scored.
  template <int kSeat>
  TARA_INLINE void NoteEnded(unsigned ended, Vector& vector) {
    const HillLanes<kSet>& games = vector.games;
    StoreCompressed(ended, kSeat % 2 == 0 ? games.own : games.enemy,
                    noted_red_ + noted_);
    StoreCompressed(ended, kSeat % 2 == 0 ? games.enemy : games.own,
                    noted_blue_ + noted_);
    StoreCompressed(ended, games.id, noted_ids_ + noted_);
    noted_ += __builtin_popcount(ended);
    vector.idle |= ended;
    if (noted_ >= kLanes) ScoreNoted();
  }

  // Begins games of the seat in idle lanes, as far as there are any.
  template <int kSeat>
  TARA_INLINE void StartGames(Vector& vector) {
    vector.games.in_manoeuvres = W(uint64_t{0});
    const unsigned begun = starts_[kSeat].StartGames(vector.idle, vector.games);
    vector.idle &= ~begun;
    waiting_ -= __builtin_popcount(begun);
    if constexpr (Rules::kHasManoeuvres) {
      vector.manoeuvres =
          vector.manoeuvres | NonZero(vector.games.in_manoeuvres);
    }
  }

  [[gnu::noinline]] void ScoreNoted() {
    const int scored = noted_ < kLanes ? noted_ : kLanes;
    const rules::BoardView<W> view = {.own = W::Load(noted_red_),
                                      .enemy = W::Load(noted_blue_),
                                      .options = &options_};
    WriteMargins<kSet>(rules::Margin<Rules>(view), noted_ids_, scored,
                       margins_);
    noted_ -= scored;
    W::Load(noted_red_ + kLanes).Store(noted_red_);
    W::Load(noted_blue_ + kLanes).Store(noted_blue_);
    W::Load(noted_ids_ + kLanes).Store(noted_ids_);
  }

  const RuleOptions options_;
  HillStarts<kSet> starts_[4];  // by seat
  Margins margins_;
  int64_t waiting_;  // games not yet begun
  // Games that are over and not yet scored: fewer than lanes but for a moment.
  int noted_ = 0;
  alignas(64) uint64_t noted_red_[2 * kLanes] = {};
  alignas(64) uint64_t noted_blue_[2 * kLanes] = {};
  alignas(64) uint64_t noted_ids_[2 * kLanes] = {};
  int vectors_in_use_;
  Vector vectors_[kMaxVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_PLAYOUTS_H_
