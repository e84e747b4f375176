// Networks: that they answer here what their bundles say, that searches ask
// them, and which bundles are refused.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';

import {strToU8} from 'fflate';

import {
  altered, damaged, makeLightBundle, makeTinyBundle, readJson, unpack,
} from './bundles.mjs';
import {loadCore, makeEngine, moduleLoader} from './harness.mjs';

const load = moduleLoader();
const engine = await makeEngine(load);
const core = await loadCore();
const catalogue = core.catalogue();
const {readBundle} = await load('/src/engine/bundle.ts');
const {readNpy} = await load('/src/engine/npy.ts');
const {readWeights} = await load('/src/engine/onnx.ts');
const bundle = makeTinyBundle();
const entries = unpack(bundle);

// The network of a bundle in the core, by the plain twins of its kernels if it
// is `plain`.
function open(data, plain = false) {
  const {model, ranges, shape} = readBundle(data, catalogue);
  const {value, error} = core.openNetwork(
      shape.kind, shape.channels, shape.blocks,
      [...readWeights(model), ...ranges], plain);
  assert.equal(error, undefined);
  return value;
}

// Loads a bundle, and verifies it.
async function verify(data) {
  await engine.loadNetwork(data, 'a.tara');
  return engine.verifyNetwork();
}

// Holds the owners that a bundle's network expects to the golden outputs, of
// positions that it sees as they are.
function checkOwners(data) {
  const network = open(data);
  const files = unpack(data);
  const logits = readNpy(files['golden/owner.npy'], 'owner').values;
  let compared = 0;
  readJson(files['golden.json']).positions.forEach((each, row) => {
    if (each.symmetry.board !== 0) return;
    const isRed = core.view(each.position).side === 0;
    core.judge(each.position, network).owners.forEach((said, hill) => {
      const powers =
          [0, 1, 2].map((k) => Math.exp(logits[135 * row + 45 * k + hill]));
      const sum = powers.reduce((a, b) => a + b);
      const [own, other] = isRed ? said : [said[1], said[0]];
      assert.ok(Math.abs(own - powers[0] / sum) < 1e-4, each.position);
      assert.ok(Math.abs(other - powers[1] / sum) < 1e-4, each.position);
      ++compared;
    });
  });
  assert.ok(compared > 0);
  network.delete();
}

// That a bundle is refused for these reasons.
const refused = (data, ...reasons) =>
  assert.rejects(engine.loadNetwork(data, 'a.tara'), ({message}) => {
    for (const reason of reasons) assert.match(message, reason);
    return true;
  });
const UNUSABLE = /^not a usable model bundle: /;
const DAMAGED = /^not a usable model bundle: it is damaged, or not a zip/;

describe('a network', () => {
  test('says what its bundle says that it should', async () => {
    const info = await engine.loadNetwork(bundle, 'a.tara');
    assert.equal(info.name, 'a.tara');
    assert.equal(info.variants.length, 10);
    assert.equal(info.file, 'model.onnx');
    assert.equal(info.bytes, bundle.length);
    assert.equal(
        info.facts.find(({name}) => name === 'channels').value, '8');
    // LibTorch's numbers.
    const {worst, ...found} = await engine.verifyNetwork();
    assert.deepEqual(found, {positions: 200, tolerance: 1e-4, agrees: true});
    assert.ok(worst > 0, 'something was compared');
  });

  test('is held to what its bundle expects', async () => {
    const changed = (change) => altered(entries, (files) => {
      const json = readJson(files['golden.json']);
      change(json.positions[7].expected, json);
      files['golden.json'] = strToU8(JSON.stringify(json));
    });
    for (const change of [
      ...['win', 'draw', 'loss', 'margin'].map(
          (name) => (expected) => expected[name] += 0.5),
      (expected) => expected.priors[0] += 0.01,
      (expected) => expected.priors.push(0),
      (expected) => delete expected.draw,
    ]) {
      assert.equal((await verify(changed(change))).agrees, false, `${change}`);
    }
    await assert.rejects(
        verify(changed((_, json) => json.positions = [])),
        /golden.json has no golden positions/);
    await assert.rejects(
        verify(altered(entries, (files) => delete files['golden.json'])),
        /golden.json is missing/);
  });

  test('may have weights of float16 alone', async () => {
    const rounded = altered(entries, (_, manifest) => {
      manifest.forms = manifest.forms.filter(({name}) => name !== 'onnx');
    });
    const info = await engine.loadNetwork(rounded, 'a.tara');
    assert.equal(info.file, 'model_float16.onnx');
    const {worst, agrees} = await engine.verifyNetwork();
    assert.ok(agrees && worst > 1e-5 && worst < 1e-2, `${worst}`);
  });

  test('judges and is asked by searches', async () => {
    await engine.loadNetwork(bundle, 'tiny.tara');
    await engine.newGame('four_treasures_doubles');
    const evaluation = await engine.evaluate();
    const result = await engine.search({simulations: 60, seed: 3}).result;
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

  // That these judge the starts of games of a variant with these options, by a
  // bundle with a changed list of variants.
  const judges = async (variant, games, change) => {
    const changed = altered(entries, (_, {variants}) => change(variants));
    await engine.loadNetwork(changed, 'changed.tara');
    for (const [options, by] of games) {
      await engine.newGame(variant, options);
      assert.equal((await engine.evaluate()).by, by, JSON.stringify(options));
    }
  };
  const kingsOf = (variants) => variants.find(({id}) => id === 'high_kings_l1');

  test('is not asked about rule options that it has not learned',
       () => judges('high_kings_l1', [
    [{no_progress_limit: 30}, 'network'],
    [{}, 'playouts'],
    [{no_progress_limit: 30, placement_captures_kings: 1}, 'playouts'],
    [{no_progress_limit: 30, placement_captures_kings: 0}, 'network'],
  ], (variants) => {
    const {options} = kingsOf(variants);
    options.no_progress_limit = 30;
    // As if the option had not existed when it learned: the default.
    delete options.placement_captures_kings;
  }));

  test('is asked about all values that were drawn when it learned',
       () => judges('high_kings_l1', [
    [{compensation: -1.5}, 'network'],
    [{compensation: 2, pie_rule: 1}, 'network'],
    [{compensation: 1.5}, 'playouts'],
  ], (variants) => {
    kingsOf(variants).drawn =
        {compensation: [-1.5, 0, 2], pie_rule: [false, true]};
  }));

  test('is not asked about variants that it has not learned', async () => {
    for (const [variant, by] of
             [['sacred_hill_l2', 'network'], ['high_kings_l1', 'playouts']]) {
      await judges(variant, [[{}, by]], (variants) => {
        variants.splice(
            0, 99, ...variants.filter(({id}) => id === 'sacred_hill_l2'));
      });
    }
  });

  test('keeps its place until another one is loaded, or none is wanted',
       async () => {
    const isThere = async (name) =>
      assert.equal((await engine.network())?.name, name);
    await engine.loadNetwork(bundle, 'first.tara');
    await refused(new Uint8Array(5), /not a usable/);
    await isThere('first.tara');
    // The search keeps the network that it began with.
    await engine.newGame('sacred_hill_l1');
    const search = engine.search({simulations: 200});
    await engine.loadNetwork(bundle, 'second.tara');
    await isThere('second.tara');
    await engine.unloadNetwork();
    await isThere(undefined);
    assert.equal((await search.result).by, 'network');
  });

  test('is refused with what differs', async () => {
    for (const [change, reason] of [
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
    ]) await refused(altered(entries, change), UNUSABLE, reason);
    for (const [change, reason] of [
      [(files) => files['model.onnx'] = strToU8('onnx'),
       /^model.onnx cannot be run: it is not an ONNX model$/],
      [(files) => files['model.onnx'] = files['model.onnx'].slice(0, 9000),
       /^model.onnx cannot be run: (tensor .* bytes|it is not an ONNX model)/],
      [(_, manifest) => manifest.network.channels = 16,
       /: tensor stem_norm.bias has shape \[8\]; expected \[16\]$/],
      [(_, manifest) => manifest.network.blocks = 90,
       /: missing tensor block\d+\./],
    ]) await refused(altered(entries, change), reason);
    await refused(bundle.slice(0, 2000), UNUSABLE);
  });

  test('is refused if a byte of it has changed', async () => {
    for (const level of [0, 9]) {
      await refused(damaged(entries, level), DAMAGED);
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
    await refused(
        bomb, /model.onnx has 9437184 bytes; expected at most 8388608 in this arch/);
    const wordy = altered(entries, (files, manifest) => {
      manifest.made_by = ' '.repeat(5 << 20);
    }, 9);
    await refused(
        wordy, /manifest.json has 52\d{5} bytes; expected at most 4194304/);
  });

  test('is refused if its archive leads nowhere', async () => {
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
      await refused(changed(place, nowhere), DAMAGED);
    }
  });

});

describe('a light network', () => {
  const bundle = makeLightBundle();
  const entries = unpack(bundle);

  test('computes what its bundle has', async () => {
    const info = await engine.loadNetwork(bundle, 'a.tara');
    assert.equal(info.facts.find(({name}) => name === 'kind').value, 'light');
    const {positions, worst} = await engine.verifyNetwork();
    assert.equal(positions, 200);
    assert.ok(worst < 1e-4, `${worst}`);
    checkOwners(bundle);
    await engine.newGame('stone_of_destiny');
    const evaluation = await engine.evaluate();
    assert.equal(evaluation.by, 'network');
    assert.equal(evaluation.owners.length, 45);
    const result = await engine.search({simulations: 200, seed: 3}).result;
    assert.equal(result.by, 'network');
    assert.equal(result.simulations, 200);
  });

  test('computes the same bits with SIMD and without, near its floats', () => {
    const networks = [open(bundle, true), open(bundle)];
    const {positions} = readJson(entries['golden.json']);
    let difference = 0;
    for (const {position, action_indices: indices, expected} of positions) {
      const [plain, fast] = networks.map((network) => {
        const tree = new core.Search(position, 1, true, 0, 1);
        tree.run(network, 1);
        const report = tree.report();
        tree.delete();
        return report;
      });
      assert.deepEqual(fast, plain, position);
      for (const {action, prior} of fast.actions) {
        const wanted = expected.priors[indices.indexOf(action)];
        difference += Math.abs(prior - wanted) / 2;
      }
    }
    assert.ok(difference > 0);
    assert.ok(difference < 0.05 * positions.length, `${difference}`);
  });

  test('is refused with what is wrong', async () => {
    for (const [change, reason] of [
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
    ]) await refused(altered(entries, change), reason);
  });
});
