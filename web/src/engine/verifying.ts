// Whether a network that runs here evaluates the golden positions of its bundle
// as it did when it was exported.

import type { Verification } from './api';
import { type Core, valueOf } from './core';
import type { Network } from './network';

/** Throws what is wrong with the golden part of the bundle. */
export function verify(core: Core, network: Network): Verification {
  const { tolerance, golden } = network.bundle;
  const { maxMargin } = core.known;
  const positions = golden();
  let worst = 0;
  for (const { position, expected } of positions) {
    const text = valueOf(core.checkPosition(position));
    const isRed = core.view(text).side === 0;
    const { priors, win, draw, redMargin } = core.judge(text, network.core);
    const [own, other] = isRed ? win : [win[1], win[0]];
    const margin = isRed ? redMargin : -redMargin;
    const differences = [
      priors.length - expected.priors.length,
      ...priors.map((prior, i) => prior - expected.priors[i]!),
      own - expected.win,
      draw - expected.draw,
      other - expected.loss,
      (margin - expected.margin) / maxMargin,
    ];
    for (const difference of differences.map(Math.abs)) {
      // Also NaN, of what is not a number.
      if (!(difference <= worst)) worst = difference || Infinity;
    }
  }
  return {
    positions: positions.length,
    worst,
    tolerance,
    agrees: worst <= tolerance,
  };
}
