// The tools of the other tests: that they see what they are to see.

import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';

import {startBrowser, watchPage} from './browser.mjs';
import {temporaryFolder} from './tara.mjs';

test('the browser shows a page and tells what is wrong with it', async (t) => {
  const file = path.join(await temporaryFolder(t), 'page.html');
  await writeFile(file, `<!doctype html><title>A page</title>
      <script>console.error('spilt milk'); throw new Error('torn');</script>
      <img src="http://127.0.0.1:9/elsewhere.png">`);
  const page = await (await startBrowser(t)).newPage();
  const problems = watchPage(page);
  await page.goto(pathToFileURL(file).href);
  assert.equal(await page.title(), 'A page');
  const text = problems.join('\n');
  assert.match(text, /console: spilt milk/);
  assert.match(text, /error: torn/);
  assert.match(text, /request: http:\/\/127\.0\.0\.1:9\/elsewhere\.png/);
});
