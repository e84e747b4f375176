// Runs the built program, as a user would.

import {spawn} from 'node:child_process';
import {mkdtemp, mkdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

// The root of the repository.
export const root = path.resolve(here, '..', '..');

// `bin/test` names the binary; by hand, the one that bin/tara builds is taken.
const cpu = process.arch === 'arm64' ? 'aarch64' : 'k8';
export const binary = process.env.TARA_BINARY ??
    path.join(root, `bazel-out/${cpu}-opt/bin/tara/cli/tara`);

// Where tests leave what people may want to look at. Not under git.
export const outputFolder = path.join(here, 'test-output');

// Runs `tara ARGUMENTS...` to its end, as bin/tara does: TARA_ROOT names the
// project unless `taraRoot` is another, or undefined. Returns {status, stdout,
// stderr}, where status is null if a signal ended it. Throws if it cannot be
// started.
export function tara(args, {cwd = root, input = '', ...options} = {}) {
  const env = {...process.env, TARA_ROOT: root};
  if ('taraRoot' in options) env.TARA_ROOT = options.taraRoot;
  return new Promise((resolve, reject) => {
    // What is undefined is left out.
    const child = spawn(binary, args, {cwd, env});
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => stdout += text);
    child.stderr.setEncoding('utf8').on('data', (text) => stderr += text);
    // A program that ends before it reads its input is no error of the test.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (status) => resolve({status, stdout, stderr}));
  });
}

// Starts `tara web` with these arguments on a free port until the test `context`
// ends. Returns the page's address, which ends with a slash. `program` and `env`:
// of a release, say, that finds its own files.
export async function servePage(
    context, args, {program = binary, env = {...process.env, TARA_ROOT: root}} = {}) {
  const server = spawn(program, ['web', '--port', '0', ...args],
                       {env, stdio: ['ignore', 'pipe', 2]});
  context.after(() => server.kill());
  let said = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    said += text;
    const found = /http:\/\/localhost:(\d+)\//.exec(said);
    if (found) return `http://127.0.0.1:${found[1]}/`;
  }
  throw new Error(`tara web ended before it served: ${said}`);
}

// Makes a folder that is removed when the test `context` ends.
export async function temporaryFolder(context) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tara-test-'));
  // Programs that still write to it are ended after it.
  context.after(
      () => rm(folder, {recursive: true, force: true, maxRetries: 5}));
  return folder;
}

// Returns the path of a file in the output folder, which it makes.
export async function outputFile(name) {
  await mkdir(outputFolder, {recursive: true});
  return path.join(outputFolder, name);
}
