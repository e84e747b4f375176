// The engine itself: the core, the game and the network, for the page's worker
// and for programs that run it in their own thread.

import type {
  Engine, EngineInfo, SearchProgress, SearchRequest, SearchResult,
} from './api';
import { type Catalogue, type Core, valueOf } from './core';
import { GameModel, positionOf } from './game';
import { gameFromText, gameToText } from './game_text';
import type { Calls } from './messages';
import { type Network, openNetwork } from './network';
import { evaluate, type Judges, search } from './searching';
import { optionsToText } from './short_text';
import { verify } from './verifying';

async function bytesOf(
    bundle: Blob | ArrayBuffer | Uint8Array): Promise<Uint8Array> {
  if (bundle instanceof Uint8Array) return bundle;
  return new Uint8Array(
      bundle instanceof Blob ? await bundle.arrayBuffer() : bundle);
}

export class Host {
  private readonly catalogue: Catalogue;
  private game: GameModel;
  private network: Network | null = null;
  /** Searches, and what must not meet one, run one after another. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly core: Core) {
    this.catalogue = core.catalogue();
    const { variants } = this.catalogue;
    this.game = GameModel.begin(core, this.catalogue, variants[0]!.id, '-');
  }

  info(): EngineInfo {
    const { actions, ratedNetwork, maxMargin, planes, globals, ...info } =
        this.catalogue;
    return info;
  }

  /** The calls that answer once. */
  calls(): Omit<Calls, 'search'> {
    const show = async () => this.game.view();
    return {
      newGame: (variant, options = {}) => {
        const info =
            this.catalogue.variants.find((each) => each.id === variant);
        this.game = GameModel.begin(
            this.core, this.catalogue, variant,
            info === undefined ? '-' : optionsToText(info, options));
        return show();
      },
      game: show,
      play: (action) => {
        this.game.play(this.game.notationOf(this.game.ply, action));
        return show();
      },
      undo: (count = 1) => {
        this.game.undo(count);
        return show();
      },
      goTo: (ply) => {
        this.game.goTo(ply);
        return show();
      },
      positionAt: async (ply) => this.game.positionAt(ply),
      positionAfter: async (ply, action) =>
        positionOf(
            this.core, this.catalogue, this.game.textAfter(ply, action)),
      saveGame: async () => gameToText(this.game),
      loadGame: (text) => {
        this.game = gameFromText(this.core, this.catalogue, text);
        return show();
      },
      completePosition: async (text) =>
        positionOf(
            this.core, this.catalogue,
            valueOf(this.core.completePosition(text))),
      positionOf: async (text) => {
        const game = gameFromText(this.core, this.catalogue, text);
        return game.positionAt(game.ply);
      },
      whyNot: async (position, hill, chosen) => {
        const text = valueOf(this.core.checkPosition(position));
        return this.core.whyNot(text, hill, chosen ?? -1) || null;
      },
      picture: async (ply = this.game.ply) => {
        const last = this.game.actions[ply - 1]?.action;
        // A swap has no place on the board.
        return this.core.picture(
            this.game.textAt(ply),
            last === undefined || last.kind === 'swap' ? -1 : last.index);
      },
      ...this.networkCalls(),
      evaluate: async (ply = this.game.ply) =>
        evaluate(this.judges(), this.game.textAt(ply), ply),
      rate: async (variant, games) => {
        if (!this.catalogue.variants.some((each) => each.id === variant)) {
          throw new Error(`unknown variant '${variant}'`);
        }
        return this.core.rateByResults(variant, games);
      },
    };
  }

  private networkCalls(): Pick<
      Engine, 'loadNetwork' | 'unloadNetwork' | 'network' | 'verifyNetwork'> {
    return {
      loadNetwork: async (data, name) => {
        const network = openNetwork(
            await bytesOf(data), name, this.core, this.catalogue);
        this.exchange(network);
        return network.info;
      },
      unloadNetwork: async () => this.exchange(null),
      network: async () => this.network?.info ?? null,
      verifyNetwork: async () => {
        if (this.network === null) throw new Error('no network is loaded');
        return verify(this.core, this.catalogue, this.network);
      },
    };
  }

  private judges(): Judges {
    const { core, catalogue, network } = this;
    return { core, catalogue, network };
  }

  /** Searches under way keep the network that they have. */
  private exchange(network: Network | null): void {
    const old = this.network;
    this.network = network;
    if (old === null) return;
    this.queue = this.queue.then(() => old.core.delete());
  }

  search(
      request: SearchRequest, stopped: () => boolean,
      onProgress: (progress: SearchProgress) => void): Promise<SearchResult> {
    const ply = request.ply ?? this.game.ply;
    const position = request.position !== undefined ?
      valueOf(this.core.checkPosition(request.position)) :
      request.after === undefined ?
      this.game.textAt(ply) :
      this.game.textAfter(ply, request.after);
    const judges = this.judges();
    const result = this.queue.then(() =>
      search(judges, position, ply, request, stopped, onProgress));
    this.queue = result.catch(() => undefined);
    return result;
  }
}
