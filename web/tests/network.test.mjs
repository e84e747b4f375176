// Networks in the browser: that they say there what their bundles say that they
// should, that searches ask them, and which bundles are refused.

import assert from 'node:assert/strict';
import path from 'node:path';
import {before, describe, test} from 'node:test';

import {build} from 'esbuild';
import {strToU8} from 'fflate';

import {
  altered, damaged, makeLightBundle, makeTinyBundle, readJson, unpack,
} from './bundles.mjs';
import {loadCore, openEngine, suiteContext, webRoot} from './harness.mjs';

// The numbers of a NumPy file of float32.
function floatsOf(bytes) {
  const start = 10 + bytes[8] + 256 * bytes[9];
  return new Float32Array(bytes.slice(start).buffer);
}

// Runs `body(engine, data)` in the page. Bytes go there as base64.
const runInPage = (page, body, data) => page.evaluate(
    `(async () => {
      const text = atob(${
        JSON.stringify(Buffer.from(data).toString('base64'))});
      const data = Uint8Array.from(text, (c) => c.charCodeAt(0));
      try {
        return await (${body})(await window.engine, data);
      } catch (error) {
        return {refused: error.message};
      }
    })()`);

describe('a network', () => {
  const context = suiteContext();
  let bundle;
  let entries;
  let page;
  let problems;
  before(async () => {
    bundle = makeTinyBundle();
    entries = unpack(bundle);
    ({page, problems} = await openEngine(context));
  });

  const withBundle = (body, data) => runInPage(page, body, data);
  const load = (data) => withBundle(
      (engine, bytes) => engine.loadNetwork(bytes, 'a.tara'), data);
  const refusal = async (change) =>
    (await load(altered(entries, change))).refused;

  test('says in the browser what its bundle says that it should', async () => {
    const {info, verification} = await withBundle(async (engine, bytes) => ({
      info: await engine.loadNetwork(bytes, 'tiny.tara'),
      verification: await engine.verifyNetwork(),
    }), bundle);
    assert.equal(info.name, 'tiny.tara');
    assert.equal(info.variants.length, 10);
    assert.equal(info.file, 'model.onnx');
    assert.equal(info.bytes, bundle.length);
    assert.equal(
        info.facts.find(({name}) => name === 'channels').value, '8');
    assert.equal(verification.positions, 200);
    assert.equal(verification.sameInputs, true);
    assert.equal(verification.sameExpected, true);
    assert.ok(verification.agrees, JSON.stringify(verification));
    assert.ok(verification.worst > 0, 'something was compared');
  });

  test('may have weights of float16 alone', async () => {
    const smaller = altered(entries, (_, manifest) => {
      manifest.forms = manifest.forms.filter(({name}) => name !== 'onnx');
    });
    const {info, verification} = await withBundle(async (engine, bytes) => ({
      info: await engine.loadNetwork(bytes, 'smaller.tara'),
      verification: await engine.verifyNetwork(),
    }), smaller);
    assert.equal(info.file, 'model_float16.onnx');
    assert.ok(verification.agrees, JSON.stringify(verification));
    assert.ok(verification.worst > 1e-5, 'weights are rounded');
  });

  test('judges and is asked by searches', async () => {
    const {evaluation, result} = await withBundle(async (engine, bytes) => {
      await engine.loadNetwork(bytes, 'tiny.tara');
      await engine.newGame('four_treasures_doubles');
      const found = await engine.evaluate();
      const searched =
          await engine.search({simulations: 60, seed: 3}).result;
      return {evaluation: found, result: searched};
    }, bundle);
    assert.equal(evaluation.by, 'network');
    const sum = evaluation.policy.reduce(
        (all, {probability}) => all + probability, 0);
    assert.ok(Math.abs(sum - 1) < 1e-4);
    assert.equal(result.by, 'network');
    assert.equal(result.simulations, 60);
    // The priors of the search are those of the judgement.
    const priors = new Map(evaluation.policy.map(
        ({action, probability}) => [action.notation, probability]));
    for (const {action, prior} of result.actions) {
      assert.ok(Math.abs(prior - priors.get(action.notation)) < 1e-3);
    }
  });

  // Who judges the starts of games of a variant with these options, by a bundle
  // with a changed manifest.
  const judges = (variant, games, change) => withBundle(
      `async (engine, bytes) => {
        await engine.loadNetwork(bytes, 'changed.tara');
        const by = [];
        for (const options of ${JSON.stringify(games)}) {
          await engine.newGame('${variant}', options);
          by.push((await engine.evaluate()).by);
        }
        return by;
      }`,
      altered(entries, (_, manifest) => change(manifest.variants)));
  const kingsOf = (variants) => variants.find(({id}) => id === 'high_kings_l1');

  test('is not asked about rule options that it has not learned', async () => {
    const asked = await judges('high_kings_l1', [
      {no_progress_limit: 30},
      {},
      {no_progress_limit: 30, placement_captures_kings: 1},
      {no_progress_limit: 30, placement_captures_kings: 0},
    ], (variants) => {
      const {options} = kingsOf(variants);
      options.no_progress_limit = 30;
      // As if the option had not existed when it learned: the default.
      delete options.placement_captures_kings;
    });
    assert.deepEqual(asked, ['network', 'playouts', 'playouts', 'network']);
  });

  test('is asked about all values that were drawn when it learned',
       async () => {
    const asked = await judges('high_kings_l1', [
      {compensation: -1.5},
      {compensation: 2, pie_rule: 1},
      {compensation: 1.5},
    ], (variants) => {
      kingsOf(variants).drawn =
          {compensation: [-1.5, 0, 2], pie_rule: [false, true]};
    });
    assert.deepEqual(asked, ['network', 'network', 'playouts']);
  });

  test('is not asked about variants that it has not learned', async () => {
    for (const [variant, by] of
             [['sacred_hill_l2', 'network'], ['high_kings_l1', 'playouts']]) {
      assert.deepEqual(await judges(variant, [{}], (variants) => {
        variants.splice(
            0, 99, ...variants.filter(({id}) => id === 'sacred_hill_l2'));
      }), [by]);
    }
  });

  test('keeps its place until another one is loaded, or none is wanted',
       async () => {
    const states = await withBundle(async (engine, bytes) => {
      const loaded = [];
      const note = async () => loaded.push((await engine.network())?.name ?? null);
      await engine.loadNetwork(bytes, 'first.tara');
      await note();
      await engine.loadNetwork(new Uint8Array(5), 'bad').catch(() => {});
      await note();
      // The search keeps the network that it began with.
      await engine.newGame('sacred_hill_l1');
      const search = engine.search({simulations: 200});
      await engine.loadNetwork(bytes, 'second.tara');
      await note();
      await engine.unloadNetwork();
      await note();
      loaded.push((await search.result).by);
      return loaded;
    }, bundle);
    assert.deepEqual(
        states,
        ['first.tara', 'first.tara', 'second.tara', null, 'network']);
  });

  test('is found out if it is not what was trained', async () => {
    const wrong = altered(entries, (files) => {
      const bytes = files['golden/result.npy'].slice();
      new DataView(bytes.buffer).setFloat32(bytes.length - 4, 77, true);
      files['golden/result.npy'] = bytes;
    });
    const {agrees, worstOutput} = await withBundle(async (engine, bytes) => {
      await engine.loadNetwork(bytes, 'wrong.tara');
      return engine.verifyNetwork();
    }, wrong);
    assert.equal(agrees, false);
    assert.equal(worstOutput, 'result');
  });

  // Verifies the bundle after a change of its entries and manifest.
  const verifyAltered = (change) => withBundle(async (engine, bytes) => {
    await engine.loadNetwork(bytes, 'altered.tara');
    return engine.verifyNetwork();
  }, altered(entries, change));
  // Returns a NumPy file with all its numbers replaced.
  const filled = (bytes, value) => {
    const copy = bytes.slice();
    const view = new DataView(copy.buffer);
    for (let i = 10 + copy[8] + 256 * copy[9]; i < copy.length; i += 4) {
      view.setFloat32(i, value, true);
    }
    return copy;
  };

  test('is not verified by golden outputs that are no numbers', async () => {
    const {outputs} = readJson(entries['manifest.json']);
    assert.ok(outputs.length >= 3);
    for (const {name} of outputs) {
      const entry = `golden/${name}.npy`;
      for (const value of [NaN, Infinity]) {
        const {refused} = await verifyAltered((files) => {
          files[entry] = filled(files[entry], value);
        });
        assert.match(refused, /golden part of the bundle/, name);
      }
    }
    // Numbers for illegal actions, too, which are NaN in every bundle.
    const {refused} = await verifyAltered((files) => {
      files['golden/policy.npy'] = filled(files['golden/policy.npy'], 1);
    });
    assert.match(refused, /'policy' of position 0.* NaN, of illegal actions/);
  });

  test('is held to all outputs of the format, listed or not', async () => {
    const {refused} = await verifyAltered((_, manifest) => {
      const {planes, globals} = manifest.golden.tensors;
      manifest.golden.tensors = {planes, globals};
    });
    assert.match(refused, /lacks rows of 'policy'/);
    const fewer = await verifyAltered((files, manifest) => {
      manifest.golden.positions -= 1;
    });
    assert.match(fewer.refused, /does not have the 199 positions/);
  });

  test('is held to what golden.json expects', async () => {
    for (const name of ['win', 'draw', 'loss', 'margin', 'priors']) {
      const found = await verifyAltered((files) => {
        const json = readJson(files['golden.json']);
        const {expected} = json.positions[7];
        if (name === 'priors') expected.priors[0] += 0.01;
        else expected[name] += 0.01;
        files['golden.json'] = strToU8(JSON.stringify(json));
      });
      assert.equal(found.sameExpected, false, name);
      assert.equal(found.agrees, false);
    }
  });

  test('is held to its inputs bit for bit', async () => {
    const found = await verifyAltered((files) => {
      const bytes = files['golden/planes.npy'].slice();
      bytes[bytes.length - 1] = 0x80;  // the last number, 0, becomes -0
      files['golden/planes.npy'] = bytes;
    });
    assert.equal(found.sameInputs, false);
    assert.equal(found.agrees, false);
  });

  test('is refused with what differs', async () => {
    const start = /^not a usable model bundle: /;
    const cases = [
      [(_, manifest) => manifest.versions.features = 99,
       /version 99 of the features.*version 2/],
      [(_, manifest) => manifest.versions.rules = 2, /version 2 of the rules/],
      [(_, manifest) => manifest.versions.values = 1,
       /version 1 of the values.*version 2/],
      [(_, manifest) => delete manifest.versions.policy, /unknown of the pol/],
      [(_, manifest) => manifest.format_version = 7, /format version 7/],
      [(_, manifest) => manifest.format = 'zip', /tara-bundle/],
      [(_, manifest) => manifest.forms = [], /no ONNX form/],
      [(_, manifest) => delete manifest.variants, /list 'variants'/],
      [(_, manifest) => delete manifest.inputs, /list 'inputs'/],
      [(_, manifest) => {
        manifest.inputs[1].shape[1] = 99;
      }, /99 globals; this page has the first \d+/],
      [(_, manifest) => manifest.network.channels = 0,
       /0 channels; expected 1 to 1024/],
      [(_, manifest) => delete manifest.network, /undefined channels/],
      [(files) => delete files['model.onnx'], /model.onnx is missing/],
      [(files) => files['manifest.json'] = strToU8('{'), /is not JSON/],
    ];
    for (const [change, expected] of cases) {
      const message = await refusal(change);
      assert.match(message, start);
      assert.match(message, expected);
    }
    for (const [change, expected] of [
      [(files) => files['model.onnx'] = strToU8('onnx'),
       /^model.onnx cannot be run: it is not an ONNX model$/],
      [(files) => files['model.onnx'] = files['model.onnx'].slice(0, 9000),
       /^model.onnx cannot be run: (tensor .* bytes|it is not an ONNX model)/],
      [(_, manifest) => manifest.network.channels = 16,
       /: tensor stem_norm.bias has shape \[8\]; expected \[16\]$/],
      [(_, manifest) => manifest.network.blocks = 90,
       /: missing tensor block\d+\./],
    ]) {
      assert.match(await refusal(change), expected);
    }
    assert.match((await load(bundle.slice(0, 2000))).refused, start);
  });

  test('is refused if a byte of it has changed', async () => {
    for (const level of [0, 9]) {
      assert.match(
          (await load(damaged(entries, level))).refused,
          /^not a usable model bundle: it is damaged, or not a zip/);
    }
  });

  test('is refused if it is small and claims to be large', async () => {
    const bomb = altered(entries, (files) => {
      for (const name of Object.keys(files)) {
        if (name !== 'manifest.json') delete files[name];
      }
      files['model.onnx'] = new Uint8Array(9 << 20);
    }, 9);
    assert.ok(bomb.length < 20_000, `${bomb.length} bytes`);
    assert.match(
        (await load(bomb)).refused,
        /model.onnx has 9437184 bytes; expected at most 8388608 in this arch/);
    const wordy = altered(entries, (files, manifest) => {
      manifest.made_by = ' '.repeat(5 << 20);
    }, 9);
    assert.match(
        (await load(wordy)).refused,
        /manifest.json has 52\d{5} bytes; expected at most 4194304/);
  });

  test('is refused if its archive leads nowhere', async () => {
    const start = /^not a usable model bundle: it is damaged, or not a zip/;
    const stored = altered(entries, () => {});
    const list = Buffer.from(stored).lastIndexOf('PK\x05\x06');
    const changed = (place, bytes) => {
      const copy = stored.slice();
      copy.set(bytes, place);
      return copy;
    };
    // Where the list of entries is, and where the first entry is.
    const first = new DataView(stored.buffer).getUint32(list + 16, true);
    const nowhere = [0xf0, 0xff, 0xff, 0x7f];
    for (const place of [list + 16, first + 42]) {
      assert.match((await load(changed(place, nowhere))).refused, start);
    }
  });

  test('is asked without a request to anywhere', () => {
    assert.deepEqual(problems, []);
  });
});

describe('a light network', () => {
  const context = suiteContext();
  let bundle;
  let entries;
  let page;
  before(async () => {
    bundle = makeLightBundle();
    entries = unpack(bundle);
    ({page} = await openEngine(context));
  });
  const refusal = async (change) => (await runInPage(
      page, (engine, bytes) => engine.loadNetwork(bytes, 'a.tara'),
      altered(entries, change))).refused;

  // The tensors of the bundle, as src/engine/network.ts passes them on.
  async function tensorsOf() {
    const {outputFiles: [{text}]} = await build({
      entryPoints: [path.join(webRoot, 'src', 'engine', 'onnx.ts')],
      bundle: true, format: 'esm', write: false,
    });
    const {readWeights} = await import(
        `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
    const ranges = {hills: [3, 64], mixed: [2, 64], policy: [32]};
    return [
      ...readWeights(entries['model.onnx']),
      ...Object.entries(ranges).map(([name, shape]) => ({
        name: `calibration/${name}`,
        shape,
        values: floatsOf(entries[`calibration/${name}.npy`]),
      })),
    ];
  }

  test('computes in the browser what its bundle has', async () => {
    const {info, verification, evaluation, result} = await runInPage(
        page, async (engine, bytes) => ({
          info: await engine.loadNetwork(bytes, 'light.tara'),
          verification: await engine.verifyNetwork(),
          game: await engine.newGame('stone_of_destiny'),
          evaluation: await engine.evaluate(),
          result: await engine.search({simulations: 200, seed: 3}).result,
        }), bundle);
    assert.equal(info.facts.find(({name}) => name === 'kind').value, 'light');
    assert.equal(verification.positions, 200);
    assert.ok(verification.agrees, JSON.stringify(verification));
    assert.equal(evaluation.by, 'network');
    assert.equal(evaluation.owners.length, 45);
    assert.equal(result.by, 'network');
    assert.equal(result.simulations, 200);
  });

  test('computes the same bits with SIMD and without, near its floats',
       async () => {
    const core = await loadCore();
    const tensors = await tensorsOf();
    const [plain, fast] = [true, false].map((twin) => {
      const {value, error} = core.openNetwork('light', 64, 2, tensors, twin);
      assert.equal(error, undefined);
      return value;
    });
    const {positions} = readJson(entries['golden.json']);
    let difference = 0;
    for (const {position, expected} of positions) {
      const [first, second] = [plain, fast].map((network) => {
        const judge = new core.Judge(position);
        const batch = judge.batch();
        network.answer(batch);
        const outputs = ['policy', 'result', 'margins'].map(
            (name) => Buffer.from(batch[name].slice().buffer));
        const found = {outputs, priors: judge.read().priors};
        judge.delete();
        return found;
      });
      assert.deepEqual(second.outputs, first.outputs, position);
      difference += second.priors.reduce(
          (sum, prior, i) => sum + Math.abs(prior - expected.priors[i]), 0) / 2;
    }
    assert.ok(difference > 0);
    assert.ok(difference < 0.05 * positions.length, `${difference}`);
  });

  test('is refused with what is wrong', async () => {
    for (const [change, expected] of [
      [(_, manifest) => manifest.network.kind = 'dark',
       /network of kind dark; this page has the kinds tower and light$/],
      [(_, manifest) => manifest.format_version = 4,
       /format version 4; this page reads versions 1 to 3/],
      [(_, manifest) => delete manifest.network.kind,
       /model.onnx cannot be run: missing tensor /],
      [(_, manifest) => manifest.network.channels = 32,
       /expected 64 channels and 1 to 8 layers$/],
      [(_, manifest) => manifest.network.blocks = 1,
       /calibration\/hills has shape \[3, 64\]; expected \[2, 64\]$/],
      [(files) => {
        for (const name of Object.keys(files)) {
          if (name.startsWith('calibration/')) delete files[name];
        }
      }, /ranges of its activations are missing; expected calibration\/\*\.npy$/],
      [(files) => delete files['calibration/policy.npy'],
       /missing tensor calibration\/policy$/],
    ]) {
      assert.match(await refusal(change), expected);
    }
  });
});
