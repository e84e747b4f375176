#include "tara/core/svg_board.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

// Units as in web/src/ui/board: 100 from hill to hill, y down, Red South below.
constexpr int kStep = 100;
constexpr int kMargin = 124;  // from the outermost hills to the edge
constexpr int kSize = 6 * kStep + 2 * kMargin;
constexpr int kCentre = kSize / 2;

struct Colours {
  absl::string_view deep;
  absl::string_view light;
  absl::string_view strand;
  absl::string_view edge;
  absl::string_view shine;
};

// Per side.
constexpr Colours kColours[] = {
    {"#97261a", "#c4452f", "#ec7a62", "#4f0f08", "#ffc9b8"},
    {"#1c4a86", "#3272b4", "#6ba7e6", "#0b2245", "#d0e6ff"}};
constexpr absl::string_view kSideClasses[] = {"tara-red", "tara-blue"};
constexpr absl::string_view kInk = "#2b261f";
constexpr absl::string_view kGlow = "#ffe08a";

// The signs of the sides, from a ringfort's middle: a sun and a triskele.
constexpr absl::string_view kSun =
    "m0-13q2 11 13 13-11 2-13 13-2-11-13-13 11-2 13-13";
constexpr absl::string_view kTriskele =
    "q-7-5-1-10t6 4m-5 6q8-4 9 4t-6 3m-3-7q-1 9-8 6t0-7";

struct Point {
  double x = 0;
  double y = 0;

  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(Point a, double scale) {
    return {a.x * scale, a.y * scale};
  }
};

double Length(Point a) { return std::hypot(a.x, a.y); }
Point Unit(Point a) { return a * (1 / Length(a)); }
// Turned left by a quarter.
Point Aside(Point a) { return {a.y, -a.x}; }

Point PointOf(Hill hill) {
  return {static_cast<double>(kMargin + kStep * FileOf(hill)),
          static_cast<double>(kMargin + kStep * (6 - RankOf(hill)))};
}

Point Middle(Point a, Point b) { return (a + b) * 0.5; }

// Path data with whole numbers, relative to the point before.
class Path {
 public:
  Path& Move(Point to) {
    text_.push_back('M');
    x_ = y_ = 0;
    return To(to);
  }
  // A dot, by the width and the round cap of the stroke.
  Path& Dot(Point at) { return Move(at).Append("h0"); }
  Path& Line(Point to) { return Append("l").To(to); }
  Path& Quadratic(Point control, Point to) {
    return Append("q").Number(control).To(to);
  }
  Path& Cubic(Point first, Point second, Point to) {
    return Append("c").Number(first).Number(second).To(to);
  }
  // Clockwise round a circle of `radius`.
  Path& Arc(int radius, bool large, Point to) {
    absl::StrAppend(&text_, "a", radius, " ", radius, " 0 ", large ? 1 : 0,
                    " 1 ");
    return To(to);
  }
  Path& Append(absl::string_view data) {
    absl::StrAppend(&text_, data);
    return *this;
  }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  Path& Number(Point at) {
    for (const auto number : {std::lround(at.x) - x_, std::lround(at.y) - y_}) {
      const bool parted = number < 0 || !absl::ascii_isdigit(text_.back());
      absl::StrAppend(&text_, parted ? "" : " ", number);
    }
    return *this;
  }
  Path& To(Point at) {
    Number(at);
    x_ = std::lround(at.x);
    y_ = std::lround(at.y);
    return *this;
  }

  std::string text_;
  int64_t x_ = 0;
  int64_t y_ = 0;
};

// Squares with cut and rounded corners: the frame, and the meadow in it.
constexpr absl::string_view kFrame =
    "M712 6q34 0 58 24l48 48q24 24 24 58v576q0 34-24 58l-48 48q-24 24-58 24"
    "h-576q-34 0-58-24l-48-48q-24-24-24-58v-576q0-34 24-58l48-48q24-24 58-24z";
constexpr absl::string_view kMeadow =
    "M694 48q26 0 44 18l44 44q18 18 18 44v540q0 26-18 44l-44 44q-18 18-44 18"
    "h-540q-26 0-44-18l-44-44q-18-18-18-44v-540q0-26 18-44l44-44q18-18 44-18z";

// One of the two strands of the plait round the board, which swing from side
// to side against each other: 88 equal waves, a crossing after each.
std::string PlaitStrand(int sign) {
  std::string path = "M118 26";
  const auto swing = [&](int waves, int x, int y) {
    absl::StrAppend(&path, "q", (x + sign * y) / 2, " ", (y - sign * x) / 2,
                    " ", x, " ", y);
    for (int i = 1; i < waves; ++i) absl::StrAppend(&path, "t", x, " ", y);
  };
  for (const auto& [x, y] :
       {std::pair(1, 0), std::pair(0, 1), std::pair(-1, 0), std::pair(0, -1)}) {
    swing(18, 34 * x, 34 * y);
    swing(4, 23 * (x - y), 23 * (y + x));  // past the corner
  }
  return absl::StrReplaceAll(path, {{" -", "-"}}) + "z";
}

// --- Bridges as knotwork -----------------------------------------------------
//
// As web/src/ui/board/knotwork.ts: ringforts are the vertices, bridges the
// edges of a plane graph, and the strands are the knot of that graph. Two
// strands cross in the middle of each bridge, and between one bridge and the
// next a strand runs along the wall of the ringfort.

constexpr int kWallRadius = 29;
constexpr double kWallAngle = 56 * std::numbers::pi / 180;

// East, south, west, north on the page: angles grow clockwise.
constexpr std::array<Point, 4> kDirections = {
    {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

Point Direction(int direction) { return kDirections[(direction + 4) % 4]; }

// Where a strand from the bridge in `direction` meets the wall, and its handle
// there; `turn` is 1 on the clockwise side of the bridge, -1 on the other.
struct WallEnd {
  Point wall;
  Point handle;
  Point crossing_handle;
};

WallEnd EndAtWall(Point centre, int direction, int turn) {
  const double angle = direction * std::numbers::pi / 2 + turn * kWallAngle;
  const Point wall =
      centre + Point{std::cos(angle), std::sin(angle)} * kWallRadius;
  const Point tangent =
      Point{-std::sin(angle), std::cos(angle)} * static_cast<double>(turn);
  return {.wall = wall,
          .handle = wall - tangent * 12,
          .crossing_handle = centre + Direction(direction) * 37 +
                             Direction(direction + turn) * 13};
}

// Adds the strand round `centre` from the bridge in `direction` to the next,
// clockwise, `gap` quarters of a turn (1 to 4) away.
void AddStrand(Point centre, int direction, int gap, Path& path) {
  const int next = direction + gap;
  const Point from = centre + Direction(direction) * 50;
  const Point to = centre + Direction(next) * 50;
  path.Move(from);
  if (gap == 1) {  // no room for a wall
    path.Cubic(centre + Direction(direction) * 27 + Direction(next) * 16.5,
               centre + Direction(next) * 27 + Direction(direction) * 16.5, to);
    return;
  }
  const WallEnd start = EndAtWall(centre, direction, 1);
  const WallEnd end = EndAtWall(centre, next, -1);
  const double sweep = gap * std::numbers::pi / 2 - 2 * kWallAngle;
  path.Cubic(start.crossing_handle, start.handle, start.wall)
      .Arc(kWallRadius, sweep > std::numbers::pi, end.wall)
      .Cubic(end.handle, end.crossing_handle, to);
}

// --- The picture -------------------------------------------------------------

std::string Percent(double share) {
  if (share < 0.0095) return "";
  return absl::StrCat(static_cast<int>(std::floor(share * 100 + 0.5)));
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Returns the text in lines of at most `width` characters, broken at spaces.
std::vector<std::string> Lines(absl::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    const size_t space = text.rfind(' ', width);
    if (space == absl::string_view::npos) break;
    lines.emplace_back(text.substr(0, space));
    text.remove_prefix(space + 1);
  }
  lines.emplace_back(text);
  return lines;
}

// Attributes.
std::string Fill(absl::string_view colour) {
  return absl::StrCat(" fill=\"", colour, "\"");
}
std::string Stroke(absl::string_view colour, absl::string_view width) {
  return absl::StrCat(" stroke=\"", colour, "\" stroke-width=\"", width, "\"");
}

class Picture {
 public:
  Picture(const State& state, const SvgOptions& options)
      : state_(state), options_(options) {}

  std::string Draw() {
    SumPolicy();
    DrawLand();
    for (const Side side : {kRed, kBlue}) DrawRingforts(side);
    for (const Side side : {kRed, kBlue}) DrawBridges(side);
    for (const Side side : {kRed, kBlue}) DrawKings(side);
    DrawLast();
    if (options_.policy.empty()) {
      DrawHighlight();
    } else {
      DrawPolicy();
    }
    DrawCaption();
    return absl::StrCat(Head(), text_, "</svg>\n");
  }

 private:
  template <typename... Arguments>
  void Add(const Arguments&... arguments) {
    absl::StrAppend(&text_, arguments..., "\n");
  }

  std::string Head() const {
    const std::string title = Escaped(
        absl::StrCat(Info(state_.variant).name, ". ", DescribeTurn(state_)));
    return absl::StrCat(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )", kSize, " ",
        height_, "\"",
        options_.width > 0 ? absl::StrCat(" width=\"", options_.width, "\"")
                           : "",
        R"( role="img" aria-label=")", title,
        R"(" stroke-linecap="round" stroke-linejoin="round" )"
        R"(font-family="Palatino,Georgia,serif">)",
        "\n<title>", title, "</title>\n<desc>",
        Escaped(absl::StrReplaceAll(DescribeState(state_), {{"\n", " "}})),
        LastText(), "</desc>\n<rect width=\"", kSize, "\" height=\"", height_,
        "\" rx=\"28\" fill=\"#f2ebdb\"/>\n");
  }

  std::string LastText() const {
    if (!options_.last.has_value()) return "";
    return absl::StrCat(" Last action: ", ActionToText(*options_.last), ".");
  }

  // Draws a path with these attributes.
  void DrawPath(const Path& path, absl::string_view attributes = "") {
    Add("<path d=\"", path.text(), "\"", attributes, "/>");
  }

  // Frame, meadow, paths, coordinates and hills.
  void DrawLand() {
    Add("<g", Stroke("#0f1a15", "3"), ">\n<path d=\"", kFrame, "\"",
        Fill("#22352c"), "/>\n<g", Fill("none"), ">");
    // The first strand again at every other crossing, where it is on top.
    constexpr absl::string_view kOnTop =
        " pathLength=\"88\" stroke-dasharray=\".6 1.4\" "
        "stroke-dashoffset=\".3\" stroke-linecap=\"butt\"";
    for (const auto& [sign, dash] :
         {std::pair(1, absl::string_view()), std::pair(-1, absl::string_view()),
          std::pair(1, kOnTop)}) {
      const Path strand = Path().Append(PlaitStrand(sign));
      DrawPath(strand, absl::StrCat(Stroke("#14211b", "9.5"), dash));
      DrawPath(strand, absl::StrCat(Stroke("#d3a445", "4.6"), dash));
    }
    Add("</g>\n<path d=\"", kMeadow, "\"", Fill("#6b9463"), "/></g>");
    Add("<g", Fill("#8fb079"), Stroke("#44693f", "1.6"),
        " fill-opacity=\".3\" stroke-opacity=\".2\">");
    for (int radius = 331; radius > 40; radius -= 57) {
      Circle({kCentre, kCentre}, radius);
    }
    Add("</g>");
    Path paths;
    for (int i = 0; i < kBoardSize; ++i) {
      const double end = (i == 0 || i == 6) ? 200 : 300;
      const double at = kMargin + kStep * i;
      paths.Move({kCentre - end, at}).Line({kCentre + end, at});
      paths.Move({at, kCentre - end}).Line({at, kCentre + end});
    }
    DrawPath(paths, Stroke("#c6d8a3", "5") +
                        " stroke-opacity=\".7\" stroke-dasharray=\"1 10\"");
    DrawCoordinates();
    Path feet, hills, crests;
    ForEachHill(kAllHills, [&](Hill hill) {
      const Point at = PointOf(hill);
      feet.Dot(at + Point{0, 2});
      hills.Dot(at);
      crests.Dot(at - Point{3, 4});
    });
    DrawPath(feet, Stroke("#3f6540", "72") + " stroke-opacity=\".6\"");
    DrawPath(hills, Stroke("#a4c088", "68"));
    DrawPath(crests, Stroke("#b9cf9a", "42"));
  }

  // Files below and above, ranks left and right; closer at the missing corners.
  void DrawCoordinates() {
    Add("<g", Fill("#1d3222"),
        " font-size=\"27\" font-weight=\"600\" text-anchor=\"middle\">");
    for (int i = 0; i < kBoardSize; ++i) {
      const double along = kMargin + kStep * i;
      const double beside = (i == 0 || i == 6) ? 255 : 355;
      for (const double side : {kCentre - beside, kCentre + beside}) {
        Text({along, side}, std::string(1, static_cast<char>('A' + i)));
        Text({side, along}, absl::StrCat(7 - i));
      }
    }
    Add("</g>");
  }

  // Writes round a point.
  void Text(Point at, absl::string_view text,
            absl::string_view attributes = "") {
    Add("<text x=\"", at.x, "\" y=\"", at.y + 9, "\"", attributes, ">", text,
        "</text>");
  }

  void Circle(Point at, int radius, absl::string_view attributes = "") {
    Add("<circle cx=\"", at.x, "\" cy=\"", at.y, "\" r=\"", radius, "\"",
        attributes, "/>");
  }

  void Ring(Hill hill, int radius, absl::string_view attributes = "") {
    Circle(PointOf(hill), radius, attributes);
  }

  void DrawRingforts(Side side) {
    const Colours& colours = kColours[side];
    Add("<g class=\"", kSideClasses[side], "-ringforts\"", Fill(colours.deep),
        ">");
    Path lights, signs;
    ForEachHill(state_.ringforts[side], [&](Hill hill) {
      const Point at = PointOf(hill);
      Ring(hill, 30);
      lights.Dot(at - Point{2, 3});
      if ((state_.kings[kRed] | state_.kings[kBlue]) & BoardOf(hill)) return;
      signs.Move(at).Append(side == kRed ? kSun : kTriskele);
    });
    Add("</g>");
    if (lights.empty()) return;
    DrawPath(lights, Stroke(colours.light, "40"));
    if (signs.empty()) return;
    DrawPath(signs, side == kRed ? Fill(colours.shine)
                                 : Fill("none") + Stroke(colours.shine, "2.6"));
  }

  void DrawBridges(Side side) {
    const Colours& colours = kColours[side];
    const std::array<Board, 2> bridges = BridgesOf(state_, side);
    const Board east = bridges[0];
    const Board north = bridges[1];
    Path strands;
    // Of the two strands at each bridge, the one on top.
    std::vector<Path> crossings;
    Path all_crossings;
    const auto cross = [&](Point middle, Point from) {
      crossings.push_back(Path().Move(middle - from).Line(middle + from));
      all_crossings.Append(crossings.back().text());
    };
    ForEachHill(state_.ringforts[side], [&](Hill hill) {
      const Board here = BoardOf(hill);
      const Point centre = PointOf(hill);
      if ((east & here) != 0) cross(centre + Point{50, 0}, {8, -8});
      if ((north & here) != 0) cross(centre - Point{0, 50}, {8, 8});
      const std::array<bool, 4> joined = {
          (east & here) != 0, (North(north) & here) != 0,
          (East(east) & here) != 0, (north & here) != 0};
      for (int direction = 0; direction < 4; ++direction) {
        if (!joined[direction]) continue;
        int gap = 1;
        while (!joined[(direction + gap) % 4]) ++gap;
        AddStrand(centre, direction, gap, strands);
      }
      if (joined != std::array<bool, 4>()) return;
      const Point radius = {kWallRadius, 0};
      strands.Move(centre + radius)
          .Arc(kWallRadius, true, centre - radius)
          .Arc(kWallRadius, true, centre + radius);
    });
    const std::string strand = Stroke(colours.strand, "8.4");
    if (!strands.empty()) {
      Add("<g", Fill("none"), Stroke(colours.edge, "13"), ">");
      DrawPath(strands);
      DrawPath(strands, strand);
      if (!crossings.empty()) {
        DrawPath(all_crossings, " stroke-linecap=\"butt\"");
      }
      Add("</g>");
    }
    Add("<g class=\"", kSideClasses[side], "-bridges\"", strand, ">");
    for (const Path& crossing : crossings) DrawPath(crossing);
    Add("</g>");
  }

  void DrawKings(Side side) {
    ForEachHill(state_.kings[side], [&](Hill hill) {
      const bool stranded = (state_.ringforts[side] & BoardOf(hill)) == 0;
      const Point at = PointOf(hill);
      Add("<g class=\"", kSideClasses[side], "-king",
          stranded ? " tara-stranded" : "", "\" transform=\"translate(", at.x,
          " ", at.y, ")\"", Stroke("#4c340b", "2"), ">");
      Circle({0, 4}, 26,
             " fill=\"#0b1a10\" fill-opacity=\".4\" stroke=\"none\"");
      Circle({0, 0}, 25, Fill("#e9bf5c"));
      Circle({0, 0}, 21, Fill(kColours[side].deep));
      DrawPath(Path().Append(
                   "M-13 7L-15-7-7-1 0-12 7-1 15-7 13 7zM-12 10h24v4h-24z"),
               Fill(kGlow));
      if (stranded) {
        Circle(
            {0, 0}, 36,
            Fill("none") + Stroke(kGlow, "5") + " stroke-dasharray=\"9 10\"");
      }
      Add("</g>");
    });
  }

  // A bent line with a head, from one hill to another.
  void Arrow(const ActionParts& parts) {
    const Point from = PointOf(parts.from);
    const Point to = PointOf(parts.to);
    const Point along = Unit(to - from);
    const Point end = to - along * 36;
    const Point control =
        Middle(from, end) + Aside(along) * (0.12 * Length(to - from));
    const Point back = Unit(end - control) * 20;
    const Point wing = Aside(back) * 0.55;
    DrawPath(Path()
                 .Move(from + along * 24)
                 .Quadratic(control, end)
                 .Move(end - back + wing)
                 .Line(end)
                 .Line(end - back - wing));
  }

  static bool MovesKing(ActionKind kind) {
    return kind == ActionKind::kKingMove || kind == ActionKind::kSacrifice;
  }

  void DrawLast() {
    if (!options_.last.has_value() || *options_.last == kPass) return;
    const ActionParts parts = Parts(*options_.last);
    // Dark below, so that it is seen on everything.
    Add("<g class=\"tara-last\"", Fill("none"), ">");
    for (const std::string& stroke : {Stroke(kInk, "9"), Stroke(kGlow, "5")}) {
      Add("<g", stroke, ">");
      if (parts.kind == ActionKind::kLink) Ring(parts.from, 41);
      if (MovesKing(parts.kind)) Arrow(parts);
      Ring(parts.to, 41);
      Add("</g>");
    }
    Add("</g>");
  }

  void DrawHighlight() {
    const LegalSet& legal = options_.highlight;
    if (legal.empty()) return;
    Board ends = legal.hills & state_.vacant();
    Board origins = 0;
    for (const LegalSet::KingMoves& king : legal.kings) {
      ends |= king.moves | king.sacrifices;
      if (king.origin >= 0 && (king.moves | king.sacrifices) != 0) {
        origins |= BoardOf(king.origin);
      }
    }
    Add("<g class=\"tara-legal\"", Fill("none"), Stroke("#fff3c4", "5"), ">");
    ForEachHill(legal.hills & ~state_.vacant(), [&](Hill hill) {
      Ring(hill, 40, R"( stroke-dasharray="14 11")");
    });
    ForEachHill(origins, [&](Hill hill) {
      Ring(hill, 41, R"( stroke-dasharray="0 9.2")");
    });
    Add("<g", Fill(kColours[state_.side()].deep), Stroke("#fff8e2", "3"), ">");
    ForEachHill(ends, [&](Hill hill) { Ring(hill, 10); });
    const auto diamond = [&](Point at) {
      DrawPath(Path().Move(at - Point{0, 11}).Append("l11 11-11 11-11-11z"));
    };
    ForEachHill(legal.links_east,
                [&](Hill hill) { diamond(PointOf(hill) + Point{50, 0}); });
    ForEachHill(legal.links_north,
                [&](Hill hill) { diamond(PointOf(hill) - Point{0, 50}); });
    Add("</g>");
    Add("</g>");
  }

  // Sums the weights by place: the hill of an action, or the middle of a link.
  void SumPolicy() {
    for (const auto& [action, weight] : options_.policy) sum_ += weight;
    for (const auto& [action, weight] : options_.policy) {
      const double share = weight / sum_;
      if (!(share > 0)) continue;
      const ActionParts parts = Parts(action);
      if (parts.kind == ActionKind::kPass) {
        pass_share_ += share;
        continue;
      }
      const Point to = PointOf(parts.to);
      const Point at = parts.kind == ActionKind::kLink
                           ? Middle(PointOf(parts.from), to)
                           : to;
      shares_[{at.y, at.x}] += share;
    }
  }

  // Discs that are larger and redder the larger the share, and arrows of the
  // three likeliest moves of kings.
  void DrawPolicy() {
    Add(R"(<g class="tara-policy" text-anchor="middle" font-weight="700" )"
        R"(font-size="25">)");
    std::vector<SvgOptions::Weight> moves;
    for (const SvgOptions::Weight& each : options_.policy) {
      if (each.weight > 0 && each.weight >= 0.05 * sum_ &&
          MovesKing(Parts(each.action).kind)) {
        moves.push_back(each);
      }
    }
    absl::c_stable_sort(moves, [](const auto& a, const auto& b) {
      return a.weight > b.weight;
    });
    Add("<g", Fill("none"), Stroke("#ff9d45", "6"), ">");
    for (size_t i = 0; i < std::min<size_t>(moves.size(), 3); ++i) {
      Arrow(Parts(moves[i].action));
    }
    Add("</g>");
    double largest = 0;
    for (const auto& [at, share] : shares_) largest = std::max(largest, share);
    for (const auto& [place, share] : shares_) {
      const Point at = {place.second, place.first};
      const double warmth = std::sqrt(share / largest);
      const auto mix = [&](int cold, int warm) {
        return absl::Hex(static_cast<int>(cold + (warm - cold) * warmth),
                         absl::kZeroPad2);
      };
      Circle(
          at, static_cast<int>(12 + 24 * warmth),
          absl::StrCat(" fill=\"#", mix(255, 232), mix(233, 90), mix(166, 40),
                       "\" fill-opacity=\"0.", std::lround(45 + 50 * warmth),
                       "\" stroke=\"#7a2404\" stroke-opacity=\".5\""));
      const std::string percent = Percent(share);
      if (!percent.empty()) Text(at, percent, Fill("#2b0d02"));
    }
    Add("</g>");
  }

  void DrawCaption() {
    constexpr size_t kWidth = 62;
    Point at = {40, kSize + 31};
    Add("<g", Fill(kInk), " font-size=\"26\">");
    const auto line = [&](absl::string_view text,
                          absl::string_view attributes = "") {
      Text(at, Escaped(text), attributes);
      at.y += 36;
    };
    line(Info(state_.variant).name, R"( font-size="32" font-weight="700")");
    std::string words = absl::StrCat(DescribeTurn(state_), LastText());
    if (pass_share_ >= 0.0095) {
      absl::StrAppend(&words, " ", ActionToText(kPass, state_), ": ",
                      Percent(pass_share_), " %.");
    } else if (options_.policy.empty() && options_.highlight.pass &&
               !MaySwap(state_)) {
      absl::StrAppend(&words, " May pass.");
    }
    for (const std::string& each : Lines(words, kWidth)) line(each);
    for (const Side side : {kRed, kBlue}) {
      at.x = 51;
      Circle(at, 10,
             Fill(kColours[side].deep) + Stroke(kColours[side].strand, "4"));
      at.x = 74;
      line(DescribeSide(state_, side));
    }
    Add("</g>");
    height_ = static_cast<int>(at.y) + 5;
  }

  const State& state_;
  const SvgOptions& options_;
  std::string text_;
  int height_ = 0;
  // Keyed by (y, x), so that they are drawn from top to bottom.
  std::map<std::pair<double, double>, double> shares_;
  double sum_ = 0;  // of the weights
  double pass_share_ = 0;
};

}  // namespace

std::string SvgBoard(const State& state, const SvgOptions& options) {
  return Picture(state, options).Draw();
}

}  // namespace tara
