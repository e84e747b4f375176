// What bin/release packs: that it runs by itself, with nothing of the system but
// glibc.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {promisify} from 'node:util';

import {root, servePage} from './tara.mjs';

const run = promisify(execFile);

describe('a release', () => {
  let folder;
  let archives;  // the same release, made twice
  let release;   // the first, unpacked
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tara release '));
    archives = [];
    for (const name of ['first', 'second']) {
      const made = path.join(folder, name);
      await run(path.join(root, 'bin', 'release'), [made]);
      const archive =
          (await readdir(made)).find((file) => file.endsWith('.tar.zst'));
      archives.push(path.join(made, archive));
    }
    await run('tar', ['--extract', '--file', archives[0]], {cwd: folder});
    release =
        path.join(folder, path.basename(archives[0]).replace('.tar.zst', ''));
  });
  after(() => rm(folder, {recursive: true, force: true}));

  // Runs its program with an empty environment, in another folder.
  const tara = (...args) =>
    run(path.join(release, 'tara'), args, {cwd: tmpdir(), env: {}});

  test('is named by version and processor, and is the same bytes each time',
       async () => {
    assert.match(path.basename(archives[0]),
                 /^tara-\d+\.\d+\.\d+-linux-[a-z0-9_]+\.tar\.zst$/);
    const digests = await Promise.all(
        archives.map((archive) => readFile(`${archive}.sha256`, 'utf8')));
    assert.equal(digests[0], digests[1]);
    await run('sha256sum', ['--check', `${archives[0]}.sha256`],
              {cwd: path.dirname(archives[0])});
  });

  test('has the npm package, the same bytes each time', async () => {
    const digests = await Promise.all(archives.map(async (archive) => {
      const made = path.dirname(archive);
      const [file] =
          (await readdir(made)).filter((name) => name.endsWith('.tgz'));
      assert.match(file, /^tara-core-\d+\.\d+\.\d+\.tgz$/);
      await run('sha256sum', ['--check', `${file}.sha256`], {cwd: made});
      return readFile(path.join(made, `${file}.sha256`), 'utf8');
    }));
    assert.equal(digests[0], digests[1]);
  });

  test('brings every library but glibc', async () => {
    const {stdout} = await run(path.join(release, 'tara'), [],
                               {env: {LD_TRACE_LOADED_OBJECTS: '1'}});
    const glibc = /^(linux-vdso|ld-linux|lib(c|m|dl|pthread|rt|resolv)\.so)/;
    const others = stdout.trim().split('\n')
        .map((line) => /^\s*(\S+) (?:=> (\S.*) )?\(/.exec(line))
        .filter(([, name]) => !glibc.test(path.basename(name)))
        .map(([, , file]) => file);
    assert.ok(others.length > 10, stdout);
    for (const file of others) {
      assert.equal(path.dirname(file), path.join(release, 'lib'));
    }
  });

  test('has the licences of all of them', async () => {
    const licences = await readdir(path.join(release, 'licences'));
    for (const name of ['libprotobuf32', 'libstdc++6', 'pbf']) {
      assert.ok(
          licences.some((file) => file.startsWith(name.replace(/\d+$/, ''))),
          `${name}: ${licences.join(' ')}`);
    }
  });

  test('plays, solves and rates with its network', async () => {
    const arena = await tara(
        'arena', '--variant', 'sacred_hill_l1', 'best:sims=2', 'greedy',
        '--games', '2');
    assert.match(arena.stdout, /best:sims=2/);
    const rate = await tara(
        'rate', 'best:sims=2', 'random', '--variant', 'sacred_hill_l1',
        '--games', '4');
    assert.match(rate.stdout, /random/);
    // Status 1: the limit is too small for an exact answer.
    const solved = await tara(
        'solve', '--variant', 'four_treasures', '--actions', 'D4 E6 D3',
        '--node-limit', '1000').catch((error) => error);
    assert.match(solved.stdout, /not solved/);
    assert.match((await tara('model', 'best')).stdout, /channels/);
  });

  test('says that learning takes a clone of the project', async () => {
    await assert.rejects(tara('train', 'config'), (error) => {
      assert.equal(error.code, 1);
      assert.match(error.stderr, /LibTorch.*a clone of the project has it/);
      return true;
    });
  });

  test('serves its page and its network', async (context) => {
    const address = await servePage(
        context, [], {program: path.join(release, 'tara'), env: {}});
    const page = await fetch(address);
    assert.equal(page.status, 200);
    assert.match(
        page.headers.get('content-security-policy'), /frame-ancestors 'none'/);
    assert.match(await page.text(), /<title>/);
    const model = await fetch(`${address}model.tara`);
    assert.match(model.headers.get('content-disposition'), /tara\.tara/);
    assert.deepEqual(
        Buffer.from(await model.arrayBuffer()),
        await readFile(path.join(release, 'models', 'tara.tara')));
    assert.equal((await fetch(`${address}nowhere`)).status, 404);
    assert.equal((await fetch(`${address}../tara`)).status, 404);
  });
});
