// Searches and judgements: the core's trees, answered by a network or by random
// games.

import type {
  Action, Evaluation, SearchedAction, SearchProgress, SearchRequest,
  SearchResult,
} from './api';
import type {
  Catalogue, Core, CoreEvaluation, CoreSearch, PositionView,
} from './core';
import { actionsAt } from './game';
import { optionsFromText } from './short_text';
import type { Network } from './network';

/** More makes no sense in a page; the core's limit is 2^24. */
const MAX_SIMULATIONS = 10_000_000;
/** A random game is far less accurate than a network, and far cheaper. */
const PLAYOUTS_FACTOR = 16;
/** A worker that is busy for so long hears nothing. */
const SLICE_MS = 12;
const PROGRESS_MS = 150;
/** Margins below this probability are left out. */
const MIN_PROBABILITY = 1e-4;

/** Node.js has it, where a channel would keep the process from ending. */
declare const setImmediate: ((called: () => void) => unknown) | undefined;

function nextMessage(): (called: () => void) => unknown {
  if (typeof setImmediate === 'function') return setImmediate;
  const channel = new MessageChannel();
  const waiting: (() => void)[] = [];
  channel.port1.onmessage = () => waiting.shift()?.();
  return (called) => {
    waiting.push(called);
    channel.port2.postMessage(null);
  };
}

/** Lets messages in. */
const onNextMessage = nextMessage();
function breathe(): Promise<void> {
  return new Promise((resolve) => { onNextMessage(resolve); });
}

export interface Judges {
  readonly core: Core;
  readonly catalogue: Catalogue;
  readonly network: Network | null;
}

/** The network, if it has learned the rules of the position. */
function networkFor(judges: Judges, position: string): Network | null {
  const fields = position.split(' ');
  const variant =
      judges.catalogue.variants.find((info) => info.id === fields[0]);
  const options = optionsFromText(fields[8] ?? '-');
  return variant !== undefined && judges.network?.plays(variant, options) ?
    judges.network :
    null;
}

function evaluationOf(
    catalogue: Catalogue, { text, legal, score }: PositionView, ply: number,
    evaluation: CoreEvaluation, owners: readonly number[] | null,
    by: Evaluation['by']): Evaluation {
  const policy = legal.map(actionsAt(catalogue, text)).map((action, i) => ({
    action,
    probability: evaluation.priors[i] ?? 0,
  }));
  policy.sort((a, b) => b.probability - a.probability);
  const { compensation } = score;
  const redMargins = evaluation.redMargins
      .map((probability, i) =>
        ({ margin: i - catalogue.maxMargin - compensation, probability }))
      .filter((each) => each.probability >= MIN_PROBABILITY);
  return {
    by,
    ply,
    policy,
    win: evaluation.win,
    draw: evaluation.draw,
    redMargin: evaluation.redMargin - compensation,
    redMargins,
    owners: owners === null ? null :
      catalogue.geometry.hills.map(
          (hill) => [owners[2 * hill.index]!, owners[2 * hill.index + 1]!]),
  };
}

export function evaluate(
    judges: Judges, position: string, ply: number): Evaluation {
  const { core, catalogue } = judges;
  const view = core.view(position);
  if (view.finished) throw new Error('the game is over: nothing to evaluate');
  const network = networkFor(judges, position);
  if (network === null) {
    return evaluationOf(
        catalogue, view, ply, core.judgeByPlayouts(position), null,
        'playouts');
  }
  const judge = new core.Judge(position);
  try {
    const batch = judge.batch();
    network.answerInFloats(batch);
    const owners = network.bundle.hasOwner ? batch.ownersOf(0) : null;
    return evaluationOf(
        catalogue, view, ply, judge.read(), owners, 'network');
  } finally {
    judge.delete();
  }
}

interface Plan {
  /** From 1; 0: the usual search. */
  readonly level: number;
  readonly simulations: number;
  readonly temperature: number;
  readonly milliseconds: number;
  readonly seed: number;
}

function planOf(
    request: SearchRequest, { levels }: Catalogue, hasNetwork: boolean): Plan {
  const strongest = levels[levels.length - 1]!;
  const number =
      levels.findIndex(({ id }) => id === (request.level ?? strongest.id));
  const level = levels[number];
  if (level === undefined) {
    throw new Error(
        `unknown level '${request.level}'; expected one of: ` +
        levels.map((each) => each.id).join(', '));
  }
  const plan = {
    level: request.level === undefined ? 0 : number + 1,
    simulations: request.simulations ??
        level.simulations * (hasNetwork ? 1 : PLAYOUTS_FACTOR),
    temperature: request.temperature ?? 0,
    milliseconds: request.milliseconds ?? Infinity,
    seed: request.seed ?? Math.floor(Math.random() * 2 ** 32),
  };
  const check = (
      name: keyof typeof plan, isGood: (value: number) => boolean,
      expected: string): void => {
    if (isGood(plan[name])) return;
    throw new Error(`${name} is ${plan[name]}; expected a ${expected}`);
  };
  check(
      'simulations',
      (n) => Number.isInteger(n) && n >= 1 && n <= MAX_SIMULATIONS,
      `whole number from 1 to ${MAX_SIMULATIONS}`);
  check('temperature', (n) => n >= 0 && n <= 100, 'number from 0 to 100');
  check('milliseconds', (n) => n >= 0, 'number from 0');
  check(
      'seed', (n) => Number.isSafeInteger(n) && n >= 0, 'whole number from 0');
  return plan;
}

/** One search; runs once. */
class Searching {
  private readonly start = performance.now();
  private readonly tree: CoreSearch;
  private readonly actionOf: (index: number) => Action;
  private readonly compensation: number;
  private readonly leaves: number;

  constructor(
      judges: Judges, position: string, private readonly ply: number,
      private readonly plan: Plan, private readonly network: Network | null) {
    this.actionOf = actionsAt(judges.catalogue, position);
    this.compensation = judges.core.view(position).score.compensation;
    this.tree = new judges.core.Search(
        position, plan.simulations, network !== null, plan.level, plan.seed);
    this.leaves = judges.core.leavesTogether(plan.simulations);
  }

  private elapsed(): number {
    return performance.now() - this.start;
  }

  /** Some simulations; with a network one batch. */
  private step(): void {
    if (this.network === null) this.tree.run(null, this.leaves);
    else this.network.advance(this.tree, this.leaves);
  }

  /** Whether there is an action to choose. */
  private hasAction(): boolean {
    return this.tree.report().simulations > 0;
  }

  private withCompensation(
      bounds: readonly [number, number] | null): [number, number] | null {
    if (bounds === null) return null;
    return [bounds[0] - this.compensation, bounds[1] - this.compensation];
  }

  progress(): SearchProgress {
    const report = this.tree.report();
    const searched = report.actions.map((each): SearchedAction => ({
      ...each,
      provedRedMargin: this.withCompensation(each.provedRedMargin),
      action: this.actionOf(each.action),
      line: each.line.map(this.actionOf),
    }));
    searched.sort((a, b) => b.visits - a.visits || b.prior - a.prior);
    return {
      ply: this.ply,
      simulations: report.simulations,
      targetSimulations: this.plan.simulations,
      milliseconds: this.elapsed(),
      actions: searched,
      redValue: report.redValue,
      redMargin: report.redMargin - this.compensation,
      principalVariation: report.principalVariation.map(this.actionOf),
      by: this.network === null ? 'playouts' : 'network',
    };
  }

  async run(
      stopped: () => boolean,
      onProgress: (progress: SearchProgress) => void): Promise<SearchResult> {
    const { tree, plan } = this;
    let lastBreath = this.elapsed();
    let lastProgress = lastBreath;
    const enough = (): boolean =>
      stopped() || this.elapsed() >= plan.milliseconds;
    while (!tree.done() && !(enough() && this.hasAction())) {
      this.step();
      const now = this.elapsed();
      // What is done says so by its result.
      if (!tree.done() && now - lastProgress >= PROGRESS_MS) {
        lastProgress = now;
        onProgress(this.progress());
      }
      if (now - lastBreath >= SLICE_MS) {
        await breathe();
        lastBreath = this.elapsed();
      }
    }
    const chosen = tree.choose(plan.temperature, plan.seed);
    return {
      ...this.progress(),
      action: this.actionOf(chosen),
      stopped: stopped(),
    };
  }

  close(): void {
    this.tree.delete();
  }
}

export async function search(
    judges: Judges, position: string, ply: number, request: SearchRequest,
    stopped: () => boolean,
    onProgress: (progress: SearchProgress) => void): Promise<SearchResult> {
  if (judges.core.view(position).finished) {
    throw new Error('the game is over: nothing to search');
  }
  const network = networkFor(judges, position);
  const plan = planOf(request, judges.catalogue, network !== null);
  const searching = new Searching(judges, position, ply, plan, network);
  try {
    return await searching.run(stopped, onProgress);
  } finally {
    searching.close();
  }
}
