// The Content-Security-Policy of the page: that it is there, and what it forbids.
// That the page works under it is what the other tests see: a violation is an
// error on the console.

import assert from 'node:assert/strict';
import {before, describe, test} from 'node:test';

import {startServer, suiteContext} from './harness.mjs';
import {startBrowser, watchPage} from '../../tests/js/browser.mjs';

describe('the page under its policy', () => {
  const context = suiteContext();
  let address;
  let page;
  const policies = new Map();  // by the name of the served file
  before(async () => {
    address = await startServer(context);
    page = await (await startBrowser(context)).newPage();
    watchPage(page);
    page.on('response', (response) => {
      const name = new URL(response.url()).pathname.split('/').pop();
      policies.set(name, response.headers()['content-security-policy']);
    });
    await page.goto(address);
    await page.waitForSelector('body.ready');
  });

  test('has it in itself, for any server', async () => {
    const policy = await page.getAttribute(
        'meta[http-equiv="Content-Security-Policy"]', 'content');
    assert.match(
        policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; /);
    assert.match(policy, /connect-src 'self'/);
  });

  test('is served with one, and so is its worker', () => {
    assert.match(policies.get(''), /frame-ancestors 'none'/);
    const workers =
        [...policies.keys()].filter((name) => name.startsWith('worker'));
    assert.equal(workers.length, 1, [...policies.keys()].join(' '));
    assert.match(policies.get(workers[0]), /connect-src 'self'/);
  });

  // Returns the directive that `attempt` violates.
  const violated = (attempt) => page.evaluate(
      `new Promise((resolve) => {
        document.addEventListener(
            'securitypolicyviolation',
            (event) => resolve(event.effectiveDirective), {once: true});
        (${attempt})();
      })`);

  test('runs no script but those of its files', async () => {
    const inline = () => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
    };
    // Chromium 150 looks at a handler when it is called, 156 when it is set.
    const handler = () => {
      document.body.setAttribute('onclick', 'window.ran = true');
      document.body.click();
    };
    const elsewhere = () => {
      const script = document.createElement('script');
      script.src = 'https://example.invalid/script.js';
      document.body.append(script);
    };
    assert.equal(await violated(inline), 'script-src-elem');
    assert.equal(await violated(handler), 'script-src-attr');
    assert.equal(await violated(elsewhere), 'script-src-elem');
    assert.equal(await page.evaluate('window.ran'), undefined);
  });

  test('asks nobody but its server', async () => {
    const fetched = () => fetch('https://example.invalid/').catch(() => {});
    const image = () => {
      new Image().src = 'https://example.invalid/image.png';
    };
    assert.equal(await violated(fetched), 'connect-src');
    assert.equal(await violated(image), 'img-src');
  });
});
