// Searches and judgements: the core's trees, answered by a network or by random
// games.

import type {
  Evaluation, SearchedAction, SearchProgress, SearchRequest, SearchResult,
} from './api';
import type { Catalogue, Core, CoreSearchedAction } from './core';
import { actionsAt } from './game';
import { notLearned } from './learned';
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

/** The network, if it has learned the rules of the position. */
function networkFor(
    core: Core, network: Network | null, position: string): Network | null {
  const fields = position.split(' ');
  const variant = core.known.variants.find((info) => info.id === fields[0]);
  const options = optionsFromText(fields[8] ?? '-');
  if (network === null || variant === undefined) return null;
  const missing = notLearned(network.info.variants, variant, options);
  return missing === '' ? network : null;
}

/** `judge` answers, if it has learned the rules of the position, else random
 * games do. */
export function evaluate(
    core: Core, judge: Network | null, position: string,
    ply: number): Evaluation {
  const { finished, legal, score } = core.view(position);
  if (finished) throw new Error('the game is over: nothing to evaluate');
  const network = networkFor(core, judge, position);
  const { win, draw, redMargin, ...found } =
      core.judge(position, network?.core ?? null);
  const actions = legal.map(actionsAt(core, position));
  const { compensation } = score;
  return {
    by: network === null ? 'playouts' : 'network',
    ply,
    policy: actions
        .map((action, i) => ({ action, probability: found.priors[i] ?? 0 }))
        .sort((a, b) => b.probability - a.probability),
    win,
    draw,
    redMargin: redMargin - compensation,
    redMargins: found.redMargins
        .map((probability, i) =>
          ({ margin: i - core.known.maxMargin - compensation, probability }))
        .filter((each) => each.probability >= MIN_PROBABILITY),
    owners: network?.bundle.hasOwner ? found.owners : null,
  };
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

export async function search(
    core: Core, judge: Network | null, position: string, ply: number,
    request: SearchRequest, stopped: () => boolean,
    onProgress: (progress: SearchProgress) => void): Promise<SearchResult> {
  const { finished, score: { compensation } } = core.view(position);
  if (finished) throw new Error('the game is over: nothing to search');
  const network = networkFor(core, judge, position);
  const plan = planOf(request, core.known, network !== null);
  const { simulations, temperature, seed } = plan;
  const actionOf = actionsAt(core, position);
  const leaves = core.leavesTogether(simulations);
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const tree = new core.Search(
      position, simulations, network !== null, plan.level, seed);

  const searched = (
      { provedRedMargin: bounds, ...rest }: CoreSearchedAction,
  ): SearchedAction => ({
    ...rest,
    provedRedMargin: bounds === null ? null :
      [bounds[0] - compensation, bounds[1] - compensation],
    action: actionOf(rest.action),
    line: rest.line.map(actionOf),
  });
  const progress = (): SearchProgress => {
    const report = tree.report();
    return {
      ply,
      simulations: report.simulations,
      targetSimulations: simulations,
      milliseconds: elapsed(),
      actions: report.actions.map(searched).sort(
          (a, b) => b.visits - a.visits || b.prior - a.prior),
      redValue: report.redValue,
      redMargin: report.redMargin - compensation,
      principalVariation: report.principalVariation.map(actionOf),
      by: network === null ? 'playouts' : 'network',
    };
  };
  // Without a simulation there is no action to choose.
  const mayEnd = (): boolean =>
    (stopped() || elapsed() >= plan.milliseconds) &&
    tree.report().simulations > 0;
  try {
    let lastBreath = elapsed();
    let lastProgress = lastBreath;
    while (!tree.done() && !mayEnd()) {
      tree.run(network?.core ?? null, leaves);
      const now = elapsed();
      // What is done says so by its result.
      if (!tree.done() && now - lastProgress >= PROGRESS_MS) {
        lastProgress = now;
        onProgress(progress());
      }
      if (now - lastBreath >= SLICE_MS) {
        await breathe();
        lastBreath = elapsed();
      }
    }
    const action = actionOf(tree.choose(temperature, seed));
    return { ...progress(), action, stopped: stopped() };
  } finally {
    tree.delete();
  }
}
