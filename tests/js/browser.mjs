// The real browsers, without a window, for these tests and those of web/.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

import {chromium, firefox} from 'playwright-core';

// Debian's; CHROMIUM and FIREFOX name others.
const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const firefoxPath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

// Whatever a page is waited for, however busy the machine: only what hangs takes
// so long.
const PATIENCE_MS = 600_000;

// Starts Chromium; it is closed when the test or suite `context` ends.
export async function startBrowser(context) {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    timeout: PATIENCE_MS,
    args: [
      '--no-sandbox',  // containers seldom allow one
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context.after(() => browser.close());
  return browser;
}

// Starts Firefox as it is, by WebDriver BiDi; else as above.
export async function startFirefox(context) {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: firefoxPath,
    timeout: PATIENCE_MS,
    // Playwright cannot ask it for less motion by page.
    firefoxUserPrefs: {'ui.prefersReducedMotion': 1},
  });
  context.after(() => browser.close());
  return browser;
}

// Makes a page, and those that it opens, patient, and collects what goes wrong
// on it: errors it throws or logs, and requests to anywhere but `allowed` (a
// prefix of addresses).
export function watchPage(page, {allowed = 'file:'} = {}) {
  page.context().setDefaultTimeout(PATIENCE_MS);
  const problems = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const address = request.url();
    const local = ['data:', 'blob:', allowed];
    if (!local.some((prefix) => address.startsWith(prefix))) {
      problems.push(`request: ${address}`);
    }
  });
  return problems;
}

// Asserts that axe finds nothing amiss on a page; `where` names it.
export async function checkAccess(page, where) {
  const axe =
      readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
  const found = await page.evaluate(`(async () => {
    ${axe};
    const {violations} = await window.axe.run();
    return violations.map(({id, nodes}) =>
      id + ': ' + nodes.map(({target}) => target.join(' ')).join(', '));
  })()`);
  assert.deepEqual(found, [], where);
}
