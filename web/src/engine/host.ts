// The engine in the calling thread: the core, the game and the network. The page
// has it in its worker; the npm package is made of it.

import type {
  Engine, EngineInfo, RatedGame, RuleOptions, Search, SearchProgress,
  SearchRequest, SearchResult,
} from './api';
import { type Core, valueOf } from './core';
import { GameModel, positionOf } from './game';
import { gameFromText, gameToText } from './game_text';
import { type Network, openNetwork } from './network';
import { evaluate, search } from './searching';
import { optionsToText } from './short_text';
import { verify } from './verifying';

export class LocalEngine implements Engine {
  readonly info: EngineInfo;
  /** null: the engine is closed. */
  private state: { game: GameModel; network: Network | null } | null;
  /** Searches, and what must not meet one, run one after another. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly core: Core) {
    const { actions, ratedNetwork, maxMargin, planes, globals, ...info } =
        core.known;
    this.info = info;
    const { id } = info.variants[0]!;
    this.state = { game: GameModel.begin(core, id, '-'), network: null };
  }

  private get open(): NonNullable<LocalEngine['state']> {
    if (this.state === null) throw new Error('the engine is closed');
    return this.state;
  }

  private view(text: string) {
    return positionOf(this.core, text);
  }

  async newGame(variant: string, options: RuleOptions = {}) {
    const info = this.info.variants.find((each) => each.id === variant);
    this.open.game = GameModel.begin(
        this.core, variant,
        info === undefined ? '-' : optionsToText(info, options));
    return this.game();
  }

  async game() {
    return this.open.game.view();
  }

  async play(action: number | string) {
    const { game } = this.open;
    game.play(game.notationOf(game.ply, action));
    return game.view();
  }

  async undo(count = 1) {
    this.open.game.undo(count);
    return this.game();
  }

  async goTo(ply: number) {
    this.open.game.goTo(ply);
    return this.game();
  }

  async positionAt(ply: number) {
    return this.open.game.positionAt(ply);
  }

  async positionAfter(ply: number, action: number | string) {
    return this.view(this.open.game.textAfter(ply, action));
  }

  async saveGame() {
    return gameToText(this.open.game);
  }

  async loadGame(text: string) {
    this.open.game = gameFromText(this.core, text);
    return this.game();
  }

  async completePosition(text: string) {
    return this.view(valueOf(this.core.completePosition(text)));
  }

  async positionOf(text: string) {
    const game = gameFromText(this.core, text);
    return game.positionAt(game.ply);
  }

  async whyNot(position: string, hill: number, chosen?: number | null) {
    const text = valueOf(this.core.checkPosition(position));
    return this.core.whyNot(text, hill, chosen ?? -1) || null;
  }

  async picture(ply = this.open.game.ply) {
    const { game } = this.open;
    const last = game.actions[ply - 1]?.action;
    // A swap has no place on the board.
    const isMarked = last !== undefined && last.kind !== 'swap';
    return this.core.picture(game.textAt(ply), isMarked ? last.index : -1);
  }

  async loadNetwork(bundle: Blob | ArrayBuffer | Uint8Array, name: string) {
    const data = await new Response(bundle as BodyInit).arrayBuffer();
    const network = openNetwork(new Uint8Array(data), name, this.core);
    this.exchange(network);
    return network.info;
  }

  async unloadNetwork() {
    this.exchange(null);
  }

  async network() {
    return this.open.network?.info ?? null;
  }

  async verifyNetwork() {
    const { network } = this.open;
    if (network === null) throw new Error('there is no network to verify');
    return verify(this.core, network);
  }

  async evaluate(ply = this.open.game.ply) {
    const { game, network } = this.open;
    return evaluate(this.core, network, game.textAt(ply), ply);
  }

  search(
      request: SearchRequest = {},
      onProgress: (progress: SearchProgress) => void = () => {}): Search {
    let stopped = false;
    const isStopped = (): boolean => stopped || this.state === null;
    return {
      result: this.searched(request, isStopped, onProgress),
      stop: () => { stopped = true; },
    };
  }

  private async searched(
      request: SearchRequest, isStopped: () => boolean,
      onProgress: (progress: SearchProgress) => void): Promise<SearchResult> {
    const { core } = this;
    const { game, network } = this.open;
    const ply = request.ply ?? game.ply;
    const position = request.position !== undefined ?
      valueOf(core.checkPosition(request.position)) :
      request.after === undefined ?
      game.textAt(ply) :
      game.textAfter(ply, request.after);
    const result = this.queue.then(() =>
      search(core, network, position, ply, request, isStopped, onProgress));
    this.queue = result.catch(() => undefined);
    const found = await result;
    return this.open && found; // rejected if it was closed meanwhile
  }

  async rate(variant: string, games: readonly RatedGame[]) {
    if (!this.info.variants.some((each) => each.id === variant)) {
      throw new Error(`unknown variant '${variant}'`);
    }
    return this.core.rateByResults(variant, games);
  }

  close(): void {
    this.state = null;
  }

  /** Searches under way keep the network that they have. */
  private exchange(network: Network | null): void {
    const old = this.open.network;
    this.open.network = network;
    if (old === null) return;
    this.queue = this.queue.then(() => old.core.delete());
  }
}
