#ifndef TARA_CLI_COMMANDS_H_
#define TARA_CLI_COMMANDS_H_

// The subcommands that need LibTorch. Loading its libraries takes longer than
// a perft, so `tara` itself is linked without it and, for these commands,
// becomes the program `tara_torch` beside it, which has them all.

#include <array>

#include "tara/cli/command_line.h"

namespace tara::cli {

struct CommandName {
  const char* name;
  const char* summary;
};

inline constexpr CommandName kPlayCommand = {
    "play", "play against the computer in the terminal"};
inline constexpr CommandName kTrainCommand = {
    "train", "train a network by self-play, by a config"};
inline constexpr CommandName kArenaCommand = {
    "arena", "a match of two players: score, interval, Elo"};
inline constexpr CommandName kCrossPlayCommand = {
    "crossplay", "strength of two players as partners, in pairs"};
inline constexpr CommandName kRateCommand = {
    "rate", "rate checkpoints and players, by variant and over all"};
inline constexpr CommandName kSelfPlayCommand = {
    "selfplay", "play games of a player with itself into a game store"};

inline constexpr CommandName kExportCommand = {
    "export", "write a trained network as a model bundle, for other programs"};
inline constexpr CommandName kModelCommand = {"model",
                                              "show and verify model bundles"};
inline constexpr CommandName kBalanceCommand = {
    "balance", "fairness of variants: self-play of strong players, statistics"};
inline constexpr CommandName kRegretCommand = {
    "regret", "loss of players in endgames that are solved exactly"};

inline constexpr CommandName kEngineCommand = {
    "engine", "an engine for other programs: line protocol, or JSON lines"};

inline constexpr std::array kTorchCommands = {
    kPlayCommand,   kTrainCommand,    kArenaCommand,   kCrossPlayCommand,
    kRateCommand,   kSelfPlayCommand, kBalanceCommand, kRegretCommand,
    kEngineCommand, kExportCommand,   kModelCommand};

inline constexpr CommandName kBenchSelfPlayCommand = {
    "selfplay", "self-play beside the bare network, over whole games"};

inline constexpr CommandName kBenchInferenceCommand = {
    "inference", "evaluations a second of a network, by backend and precision"};

inline constexpr CommandName kBenchEngineCommand = {
    "engine", "analysis of many positions by `tara engine`, beside self-play"};

// Of the command `bench`.
inline constexpr std::array kTorchBenchCommands = {
    kBenchSelfPlayCommand, kBenchInferenceCommand, kBenchEngineCommand};

// Each adds its command, with its options and help, to the program.
void RegisterArena(Command& root);
void RegisterBalance(Command& root);
void RegisterCrossPlay(Command& root);
void RegisterEngine(Command& root);
void RegisterExport(Command& root);
void RegisterGames(Command& root);
void RegisterModel(Command& root);
void RegisterPerft(Command& root);
void RegisterPlay(Command& root);
void RegisterRate(Command& root);
void RegisterRegret(Command& root);
void RegisterSelfPlay(Command& root);
void RegisterShow(Command& root);
void RegisterSolve(Command& root);
void RegisterStats(Command& root);
void RegisterTrain(Command& root);
void RegisterVariants(Command& root);
void RegisterVerify(Command& root);
void RegisterWeb(Command& root);

// Adds the command `bench` and returns it; the others add its parts.
Command& RegisterBench(Command& root);
void RegisterBenchEngine(Command& bench);
void RegisterBenchInference(Command& bench);
void RegisterBenchSearch(Command& bench);
void RegisterBenchSelfPlay(Command& bench);

}  // namespace tara::cli

#endif  // TARA_CLI_COMMANDS_H_
