// The real browser, without a window, for these tests and those of web/.

import {chromium} from 'playwright-core';

// Debian's Chromium; CHROMIUM names another.
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

// Whatever a page is waited for, however busy the machine: only what hangs takes
// so long.
const PATIENCE_MS = 600_000;

// Starts the browser; it is closed when the test or suite `context` ends.
export async function startBrowser(context) {
  const browser = await chromium.launch({
    executablePath,
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

// Makes a page patient and collects what goes wrong on it: errors it throws or
// logs, and requests to anywhere but `allowed` (a prefix of addresses).
export function watchPage(page, {allowed = 'file:'} = {}) {
  page.setDefaultTimeout(PATIENCE_MS);
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
