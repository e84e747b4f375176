#include "tara/core/svg_board.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

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
constexpr absl::string_view kSideNames[] = {"red", "blue"};
constexpr absl::string_view kInk = "#2b261f";
constexpr absl::string_view kGlow = "#ffe08a";

// The signs of the sides, from the middle of a ringfort: a sun of four rays and
// a triskele.
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
    Number(Round(to.x));
    Number(Round(to.y));
    Reach(to);
    return *this;
  }
  // A dot, by the width and the round cap of the stroke.
  Path& Dot(Point at) {
    Move(at);
    text_.append("h0");
    return *this;
  }
  Path& Line(Point to) { return Curve('l', {to}); }
  Path& Quadratic(Point control, Point to) { return Curve('q', {control, to}); }
  Path& Cubic(Point first, Point second, Point to) {
    return Curve('c', {first, second, to});
  }
  // Clockwise round a circle of `radius`.
  Path& Arc(int radius, bool large, Point to) {
    absl::StrAppend(&text_, "a", radius, " ", radius, " 0 ", large ? 1 : 0,
                    " 1");
    Number(Round(to.x) - x_, true);
    Number(Round(to.y) - y_);
    Reach(to);
    return *this;
  }
  Path& Append(absl::string_view data) {
    absl::StrAppend(&text_, data);
    return *this;
  }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  static int Round(double value) {
    return static_cast<int>(std::floor(value + 0.5));
  }
  void Reach(Point to) {
    x_ = Round(to.x);
    y_ = Round(to.y);
  }
  void Number(int value, bool after_number = false) {
    const bool digit = !text_.empty() && absl::ascii_isdigit(text_.back());
    if (value >= 0 && (digit || after_number)) text_.push_back(' ');
    absl::StrAppend(&text_, value);
  }
  Path& Curve(char command, std::initializer_list<Point> points) {
    text_.push_back(command);
    for (const Point& point : points) {
      Number(Round(point.x) - x_);
      Number(Round(point.y) - y_);
    }
    Reach(*(points.end() - 1));
    return *this;
  }

  std::string text_;
  int x_ = 0;
  int y_ = 0;
};

// A square with cut and rounded corners round the centre: half its width, how
// much of each corner is cut, and by how much it is rounded.
Path Octagon(double half, double cut, double radius) {
  const double far = half - cut;
  const std::array<Point, 8> corners = {{{far, -half},
                                         {half, -far},
                                         {half, far},
                                         {far, half},
                                         {-far, half},
                                         {-half, far},
                                         {-half, -far},
                                         {-far, -half}}};
  const Point centre = {kCentre, kCentre};
  Path path;
  for (int i = 0; i < 8; ++i) {
    const Point corner = corners[i];
    const auto towards = [&](Point other) {
      return centre + corner +
             (other - corner) * (radius / Length(other - corner));
    };
    const Point from = towards(corners[(i + 7) % 8]);
    if (i == 0) {
      path.Move(from);
    } else {
      path.Line(from);
    }
    path.Quadratic(centre + corner, towards(corners[(i + 1) % 8]));
  }
  return path.Append("z");
}

// One of the two strands of the plait round the board, which swing from side
// to side against each other: 88 equal waves, a crossing after each.
std::string PlaitStrand(int sign) {
  constexpr int kAside = 306;
  constexpr int kHalf = 398;
  std::string path = absl::StrCat("M", kCentre - kAside, " ", kCentre - kHalf);
  const auto side = [&](int waves, int x, int y, int control_x, int control_y) {
    absl::StrAppend(&path, "q", control_x, " ", control_y, " ", x, " ", y);
    for (int i = 1; i < waves; ++i) absl::StrAppend(&path, "t", x, " ", y);
  };
  // Outwards by 17 in the middle of a wave, so that the strand swings by 8.5.
  constexpr int kSwing = 17;
  const std::array<std::array<int, 2>, 4> along = {
      {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  for (int i = 0; i < 4; ++i) {
    const auto [x, y] = along[i];
    const auto [next_x, next_y] = along[(i + 1) % 4];
    side(18, 34 * x, 34 * y, 17 * x + sign * kSwing * y,
         17 * y - sign * kSwing * x);
    const int dx = x + next_x;
    const int dy = y + next_y;
    side(4, 23 * dx, 23 * dy, 12 * dx + sign * 12 * dy,
         12 * dy - sign * 12 * dx);
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

class Picture {
 public:
  Picture(const State& state, const SvgOptions& options)
      : state_(state), options_(options) {}

  std::string Draw() {
    SumPolicy();
    DrawLand();
    for (const Side side : {kRed, kBlue}) DrawRingforts(side);
    for (const Side side : {kRed, kBlue}) DrawBridges(side);
    DrawKings();
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
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", kSize, " ",
        height_, "\"", WidthText(), " role=\"img\" aria-label=\"", title,
        "\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "
        "font-family=\"Palatino,Georgia,serif\">\n<title>",
        title, "</title>\n<desc>",
        Escaped(absl::StrCat(PositionLine(), LastText())), "</desc>\n",
        "<rect width=\"", kSize, "\" height=\"", height_,
        "\" rx=\"28\" fill=\"#f2ebdb\"/>\n");
  }

  std::string WidthText() const {
    return options_.width > 0 ? absl::StrCat(" width=\"", options_.width, "\"")
                              : "";
  }

  std::string PositionLine() const {
    return absl::StrReplaceAll(DescribeState(state_), {{"\n", " "}});
  }

  std::string LastText() const {
    if (!options_.last.has_value()) return "";
    return absl::StrCat(" Last action: ", ActionToText(*options_.last), ".");
  }

  // Frame, meadow, paths, coordinates and hills.
  void DrawLand() {
    Add("<path d=\"", Octagon(418, 96, 34).text(),
        "\" fill=\"#22352c\" stroke=\"#0f1a15\" stroke-width=\"3\"/>");
    const std::array<std::string, 2> strands = {PlaitStrand(1),
                                                PlaitStrand(-1)};
    Add("<g fill=\"none\">");
    const auto strand = [&](const std::string& d, absl::string_view dash) {
      for (const auto& [colour, width] :
           {std::pair("#14211b", "9.5"), std::pair("#d3a445", "4.6")}) {
        Add("<path stroke=\"", colour, "\" stroke-width=\"", width, "\"", dash,
            " d=\"", d, "\"/>");
      }
    };
    strand(strands[0], "");
    strand(strands[1], "");
    // The first again at every other crossing, where it is on top.
    strand(strands[0],
           " pathLength=\"88\" stroke-dasharray=\".6 1.4\" "
           "stroke-dashoffset=\".3\" stroke-linecap=\"butt\"");
    Add("</g>");
    Add("<path d=\"", Octagon(376, 80, 26).text(),
        "\" fill=\"#6b9463\" stroke=\"#0f1a15\" stroke-width=\"3\"/>");
    Add("<g fill=\"#8fb079\" fill-opacity=\".3\" stroke=\"#44693f\" "
        "stroke-opacity=\".2\" stroke-width=\"1.6\">");
    for (int radius = 331; radius > 40; radius -= 57) {
      Add("<circle cx=\"", kCentre, "\" cy=\"", kCentre, "\" r=\"", radius,
          "\"/>");
    }
    Add("</g>");
    DrawPaths();
    DrawCoordinates();
    Path feet, hills, crests;
    ForEachHill(kAllHills, [&](Hill hill) {
      const Point at = PointOf(hill);
      feet.Dot(at + Point{0, 2});
      hills.Dot(at);
      crests.Dot(at - Point{3, 4});
    });
    Add("<path stroke=\"#3f6540\" stroke-width=\"72\" stroke-opacity=\".6\" "
        "d=\"",
        feet.text(), "\"/>");
    Add("<path stroke=\"#a4c088\" stroke-width=\"68\" d=\"", hills.text(),
        "\"/>");
    Add("<path stroke=\"#b9cf9a\" stroke-width=\"42\" d=\"", crests.text(),
        "\"/>");
  }

  void DrawPaths() {
    Path paths;
    for (int i = 0; i < kBoardSize; ++i) {
      const double end = (i == 0 || i == 6) ? 200 : 300;
      const double at = kMargin + kStep * i;
      paths.Move({kCentre - end, at}).Line({kCentre + end, at});
      paths.Move({at, kCentre - end}).Line({at, kCentre + end});
    }
    Add("<path stroke=\"#c6d8a3\" stroke-width=\"5\" stroke-opacity=\".7\" "
        "stroke-dasharray=\"1 10\" d=\"",
        paths.text(), "\"/>");
  }

  // Files below and above, ranks left and right; closer at the missing corners.
  void DrawCoordinates() {
    Add("<g font-size=\"27\" font-weight=\"600\" text-anchor=\"middle\" "
        "fill=\"#1d3222\">");
    std::string files, ranks, along;
    for (int i = 0; i < kBoardSize; ++i) {
      files.push_back(static_cast<char>('A' + i));
      ranks.push_back(static_cast<char>('7' - i));
      absl::StrAppend(&along, i > 0 ? " " : "", kMargin + kStep * i);
    }
    constexpr int kNear = 55;
    const auto places = [](int outside, int inwards, int base) {
      std::string text;
      for (int i = 0; i < kBoardSize; ++i) {
        const bool corner = i == 0 || i == 6;
        absl::StrAppend(&text, i > 0 ? " " : "",
                        base + outside + (corner ? inwards : 0));
      }
      return text;
    };
    constexpr int kBase = 9;  // from the middle of a letter to its base line
    const int low = kMargin - kNear;
    const int high = kSize - kMargin + kNear;
    std::string down;
    for (int i = 0; i < kBoardSize; ++i) {
      absl::StrAppend(&down, i > 0 ? " " : "", kMargin + kStep * i + kBase);
    }
    Add("<text x=\"", along, "\" y=\"", places(low, kStep, kBase), "\">", files,
        "</text>");
    Add("<text x=\"", along, "\" y=\"", places(high, -kStep, kBase), "\">",
        files, "</text>");
    Add("<text x=\"", places(low, kStep, 0), "\" y=\"", down, "\">", ranks,
        "</text>");
    Add("<text x=\"", places(high, -kStep, 0), "\" y=\"", down, "\">", ranks,
        "</text>");
    Add("</g>");
  }

  void DrawRingforts(Side side) {
    const Board own = state_.ringforts[side];
    const Colours& colours = kColours[side];
    Add("<g class=\"tara-", kSideNames[side], "-ringforts\" fill=\"",
        colours.deep, "\">");
    Path lights, signs;
    ForEachHill(own, [&](Hill hill) {
      const Point at = PointOf(hill);
      Ring(hill, 30);
      lights.Dot(at - Point{2, 3});
      if ((state_.kings[kRed] | state_.kings[kBlue]) & BoardOf(hill)) return;
      signs.Move(at).Append(side == kRed ? kSun : kTriskele);
    });
    Add("</g>");
    if (own == 0) return;
    Add("<path stroke=\"", colours.light, "\" stroke-width=\"40\" d=\"",
        lights.text(), "\"/>");
    if (signs.empty()) return;
    Add("<path ",
        side == kRed ? "fill=\""
                     : "fill=\"none\" stroke-width=\"2.6\" stroke=\"",
        colours.shine, "\" d=\"", signs.text(), "\"/>");
  }

  void DrawBridges(Side side) {
    const std::array<Board, 2> bridges = BridgesOf(state_, side);
    const Board east = bridges[0];
    const Board north = bridges[1];
    Path strands;
    ForEachHill(state_.ringforts[side], [&](Hill hill) {
      const Board here = BoardOf(hill);
      const Point centre = PointOf(hill);
      const std::array<bool, 4> joined = {
          (east & here) != 0, (North(north) & here) != 0,
          (East(east) & here) != 0, (north & here) != 0};
      bool any = false;
      for (int direction = 0; direction < 4; ++direction) {
        if (!joined[direction]) continue;
        any = true;
        int gap = 1;
        while (!joined[(direction + gap) % 4]) ++gap;
        AddStrand(centre, direction, gap, strands);
      }
      if (any) return;
      const Point radius = {kWallRadius, 0};
      strands.Move(centre + radius)
          .Arc(kWallRadius, true, centre - radius)
          .Arc(kWallRadius, true, centre + radius);
    });
    // Of the two strands at each bridge, the one on top.
    std::vector<std::string> crossings;
    const auto cross = [&](Point middle, Point from) {
      crossings.push_back(
          Path().Move(middle - from).Line(middle + from).text());
    };
    ForEachHill(state_.ringforts[side], [&](Hill hill) {
      const Point at = PointOf(hill);
      if ((east & BoardOf(hill)) != 0) cross(at + Point{50, 0}, {8, -8});
      if ((north & BoardOf(hill)) != 0) cross(at - Point{0, 50}, {8, 8});
    });
    const Colours& colours = kColours[side];
    if (state_.ringforts[side] != 0) {
      Add("<g fill=\"none\" stroke=\"", colours.edge,
          "\" stroke-width=\"13\"><path d=\"", strands.text(), "\"/>");
      Add("<path stroke=\"", colours.strand, "\" stroke-width=\"8.4\" d=\"",
          strands.text(), "\"/>");
      std::string all;
      for (const std::string& crossing : crossings) {
        absl::StrAppend(&all, crossing);
      }
      if (!all.empty()) {
        Add("<path stroke-linecap=\"butt\" d=\"", all, "\"/>");
      }
      Add("</g>");
    }
    Add("<g class=\"tara-", kSideNames[side], "-bridges\" stroke=\"",
        colours.strand, "\" stroke-width=\"8.4\">");
    for (const std::string& crossing : crossings) {
      Add("<path d=\"", crossing, "\"/>");
    }
    Add("</g>");
  }

  void DrawKings() {
    for (const Side side : {kRed, kBlue}) {
      const Colours& colours = kColours[side];
      ForEachHill(state_.kings[side], [&](Hill hill) {
        const bool stranded = (state_.ringforts[side] & BoardOf(hill)) == 0;
        const Point at = PointOf(hill);
        Add("<g class=\"tara-", kSideNames[side], "-king",
            stranded ? " tara-stranded" : "", "\" transform=\"translate(", at.x,
            " ", at.y, ")\" stroke=\"#4c340b\" stroke-width=\"2\">");
        Add("<circle cy=\"4\" r=\"26\" fill=\"#0b1a10\" fill-opacity=\".4\" "
            "stroke=\"none\"/><circle r=\"25\" fill=\"#e9bf5c\"/>"
            "<circle r=\"21\" fill=\"",
            colours.deep, "\"/>");
        Add("<path d=\"M-13 7L-15-7-7-1 0-12 7-1 15-7 13 7zM-12 10h24v4h-24z\" "
            "fill=\"",
            kGlow, "\"/>");
        if (stranded) {
          Add("<circle r=\"36\" fill=\"none\" stroke=\"", kGlow,
              "\" stroke-width=\"5\" stroke-dasharray=\"9 10\"/>");
        }
        Add("</g>");
      });
    }
  }

  void Ring(Hill hill, int radius, absl::string_view attributes = "") {
    const Point at = PointOf(hill);
    Add("<circle cx=\"", at.x, "\" cy=\"", at.y, "\" r=\"", radius, "\"",
        attributes, "/>");
  }

  // A bent line with a head, from one hill to another.
  void Arrow(Hill from_hill, Hill to_hill) {
    const Point from = PointOf(from_hill);
    const Point to = PointOf(to_hill);
    const Point along = (to - from) * (1 / Length(to - from));
    const Point aside = {along.y, -along.x};
    const Point end = to - along * 36;
    const Point control =
        Middle(from, end) + aside * (0.12 * Length(to - from));
    const Point back = (end - control) * (1 / Length(end - control));
    const Point wing = {back.y, -back.x};
    Add("<path d=\"",
        Path()
            .Move(from + along * 24)
            .Quadratic(control, end)
            .Move(end - back * 20 + wing * 11)
            .Line(end)
            .Line(end - back * 20 - wing * 11)
            .text(),
        "\"/>");
  }

  void DrawLast() {
    if (!options_.last.has_value()) return;
    const ActionParts parts = Parts(*options_.last);
    if (parts.kind == ActionKind::kPass) return;
    // Dark below, so that it is seen on everything.
    Add("<g class=\"tara-last\" fill=\"none\">");
    for (const auto& [colour, width] :
         {std::pair(kInk, "9"), std::pair(kGlow, "5")}) {
      Add("<g stroke=\"", colour, "\" stroke-width=\"", width, "\">");
      if (parts.kind == ActionKind::kLink) Ring(parts.from, 41);
      if (parts.kind == ActionKind::kKingMove ||
          parts.kind == ActionKind::kSacrifice) {
        Arrow(parts.from, parts.to);
      }
      Ring(parts.to, 41);
      Add("</g>");
    }
    Add("</g>");
  }

  void DrawHighlight() {
    const LegalSet& legal = options_.highlight;
    if (legal.empty()) return;
    const absl::string_view deep = kColours[state_.side()].deep;
    Board ends = legal.hills & state_.vacant();
    Board origins = 0;
    for (const LegalSet::KingMoves& king : legal.kings) {
      ends |= king.moves | king.sacrifices;
      if (king.origin >= 0 && (king.moves | king.sacrifices) != 0) {
        origins |= BoardOf(king.origin);
      }
    }
    Add("<g class=\"tara-legal\" fill=\"none\" stroke=\"#fff3c4\" "
        "stroke-width=\"5\">");
    ForEachHill(legal.hills & ~state_.vacant(), [&](Hill hill) {
      Ring(hill, 40, " stroke-dasharray=\"14 11\"");
    });
    ForEachHill(origins, [&](Hill hill) {
      Ring(hill, 41, " stroke-dasharray=\"0 9.2\"");
    });
    Add("<g fill=\"", deep, "\" stroke=\"#fff8e2\" stroke-width=\"3\">");
    ForEachHill(ends, [&](Hill hill) { Ring(hill, 10); });
    const auto diamond = [&](Point at) {
      const Point up = {0, 11};
      const Point right = {11, 0};
      Add("<path d=\"",
          Path()
              .Move(at - up)
              .Line(at + right)
              .Line(at + up)
              .Line(at - right)
              .Append("z")
              .text(),
          "\"/>");
    };
    ForEachHill(legal.links_east,
                [&](Hill hill) { diamond(PointOf(hill) + Point{50, 0}); });
    ForEachHill(legal.links_north,
                [&](Hill hill) { diamond(PointOf(hill) - Point{0, 50}); });
    Add("</g>");
    Add("</g>");
  }

  // Sums the weights by place: the hill that an action leads to, or the middle
  // of a link.
  void SumPolicy() {
    double sum = 0;
    for (const SvgOptions::Weight& each : options_.policy) sum += each.weight;
    if (sum <= 0) return;
    for (const auto& [action, weight] : options_.policy) {
      const double share = weight / sum;
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
    Add("<g class=\"tara-policy\" text-anchor=\"middle\" font-weight=\"700\" "
        "font-size=\"25\">");
    std::vector<SvgOptions::Weight> moves;
    double sum = 0;
    for (const SvgOptions::Weight& each : options_.policy) {
      sum += each.weight;
      const ActionKind kind = Parts(each.action).kind;
      if (kind == ActionKind::kKingMove || kind == ActionKind::kSacrifice) {
        moves.push_back(each);
      }
    }
    std::stable_sort(
        moves.begin(), moves.end(),
        [](const auto& a, const auto& b) { return a.weight > b.weight; });
    if (moves.size() > 3) moves.resize(3);
    Add("<g fill=\"none\" stroke=\"#ff9d45\" stroke-width=\"6\">");
    for (const auto& [action, weight] : moves) {
      if (weight <= 0 || weight < 0.05 * sum) continue;
      Arrow(Parts(action).from, Parts(action).to);
    }
    Add("</g>");
    double largest = 0;
    for (const auto& [at, share] : shares_) largest = std::max(largest, share);
    for (const auto& [at, share] : shares_) {
      const double warmth = std::sqrt(share / largest);
      const auto mix = [&](int cold, int warm) {
        return absl::Hex(static_cast<int>(cold + (warm - cold) * warmth),
                         absl::kZeroPad2);
      };
      const auto opacity_percent = std::lround(45 + 50 * warmth);
      Add("<circle cx=\"", at.second, "\" cy=\"", at.first, "\" r=\"",
          static_cast<int>(12 + 24 * warmth), "\" fill=\"",
          absl::StrCat("#", mix(255, 232), mix(233, 90), mix(166, 40)),
          "\" fill-opacity=\"0.", opacity_percent,
          "\" stroke=\"#7a2404\" stroke-opacity=\".5\"/>");
      const std::string percent = Percent(share);
      if (percent.empty()) continue;
      Add("<text x=\"", at.second, "\" y=\"", at.first + 9,
          "\" fill=\"#2b0d02\">", percent, "</text>");
    }
    Add("</g>");
  }

  void DrawCaption() {
    constexpr int kLine = 36;
    constexpr size_t kWidth = 62;
    int y = kSize + 40;
    Add("<g fill=\"", kInk, "\" font-size=\"26\">");
    const auto line = [&](absl::string_view text, absl::string_view attributes,
                          int x) {
      Add("<text x=\"", x, "\" y=\"", y, "\"", attributes, ">", Escaped(text),
          "</text>");
      y += kLine;
    };
    constexpr int kLeft = 40;
    line(Info(state_.variant).name, " font-size=\"32\" font-weight=\"700\"",
         kLeft);
    std::string words = absl::StrCat(DescribeTurn(state_), LastText());
    if (pass_share_ >= 0.0095) {
      absl::StrAppend(&words, " ", ActionToText(kPass, state_), ": ",
                      Percent(pass_share_), " %.");
    } else if (options_.policy.empty() && options_.highlight.pass &&
               !MaySwap(state_)) {
      absl::StrAppend(&words, " May pass.");
    }
    for (const std::string& each : Lines(words, kWidth)) line(each, "", kLeft);
    for (const Side side : {kRed, kBlue}) {
      const Colours& colours = kColours[side];
      Add("<circle cx=\"", kLeft + 11, "\" cy=\"", y - 9, "\" r=\"10\" fill=\"",
          colours.deep, "\" stroke=\"", colours.strand,
          "\" stroke-width=\"4\"/>");
      line(DescribeSide(state_, side), "", kLeft + 34);
    }
    Add("</g>");
    height_ = y - 4;
  }

  const State& state_;
  const SvgOptions& options_;
  std::string text_;
  int height_ = 0;
  // Keyed by (y, x), so that they are drawn from top to bottom.
  std::map<std::pair<double, double>, double> shares_;
  double pass_share_ = 0;
};

}  // namespace

std::string SvgBoard(const State& state, const SvgOptions& options) {
  return Picture(state, options).Draw();
}

}  // namespace tara
