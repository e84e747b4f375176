// What `vite build --mode site` adds to the page, to make it one for any web
// space (`tara web --export`): the network, icons and a manifest to install it
// by, the rules in full, licences and the service worker.

import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {initWasm, Resvg} from '@resvg/resvg-wasm';
import {strFromU8, strToU8, unzipSync, zipSync} from 'fflate';
import {marked, Renderer} from 'marked';

const here = path.dirname(fileURLToPath(import.meta.url));
const web = path.dirname(here);
const root = path.dirname(web);
const read = (...names) => readFileSync(path.join(...names), 'utf8');

const DAY = '#f2ebdb';  // --paper of src/ui/styles/theme.css
const NIGHT = '#14191a';

const WORKER = 'service-worker.js';  // tara/cli/web.cc knows an export by it

// The bundle without what the page does not read: it stays a bundle.
export function bundleForPage(bundle) {
  const entries = unzipSync(
      bundle, {filter: ({name}) => !/\.pt$|float16|^specification/.test(name)});
  const manifest = JSON.parse(strFromU8(entries['manifest.json']));
  manifest.forms = manifest.forms.filter(({file}) => file in entries);
  entries['manifest.json'] = strToU8(JSON.stringify(manifest, null, 2));
  // The earliest time in zip files; the time of the build would differ.
  return zipSync(entries, {level: 9, mtime: new Date(1980, 0, 1, 12)});
}

const ICONS = [
  {file: 'icons/192.png', size: 192, purpose: 'any'},
  {file: 'icons/512.png', size: 512, purpose: 'any'},
  // The system cuts it to a circle, a drop or another shape.
  {file: 'icons/512-maskable.png', size: 512, purpose: 'maskable'},
  // Apple's.
  {file: 'icons/180.png', size: 180, purpose: null},
];

async function drawIcons() {
  await initWasm(readFileSync(createRequire(import.meta.url).resolve(
      '@resvg/resvg-wasm/index_bg.wasm')));
  const round = read(here, 'icon.svg');
  const square = round.replace(' rx="14"', '');
  return ICONS.map(({file, size, purpose}) => {
    const image = new Resvg(
        purpose === 'any' ? round : square,
        {fitTo: {mode: 'width', value: size}});
    return {fileName: file, source: image.render().asPng()};
  });
}

const manifest = {
  name: 'Tara',
  short_name: 'Tara',
  description: 'The board games of Tara, against a network, without a server.',
  lang: 'en',
  start_url: './',
  scope: './',
  display: 'standalone',
  background_color: DAY,
  theme_color: DAY,
  categories: ['games'],
  icons: ICONS.filter(({purpose}) => purpose !== null)
      .map(({file, size, purpose}) => ({
        src: file,
        sizes: `${size}x${size}`,
        type: 'image/png',
        purpose,
      })),
};

// docs/reference/rules.md as a page, with its sections folded; links to other
// documents are text.
function rulesPage(policy) {
  const renderer = {
    heading({tokens, depth, text}) {
      const id = text.toLowerCase().replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-');
      return `<h${depth} id="${id}">${
        this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({href, tokens}) {
      const text = this.parser.parseInline(tokens);
      return href.startsWith('#') ? `<a href="${href}">${text}</a>` : text;
    },
    // Keys reach what is scrolled.
    table(token) {
      const table = Renderer.prototype.table.call(this, token)
          .replaceAll('<th></th>', '<td></td>');
      return `<div class="table" tabindex="0">${table}</div>\n`;
    },
    code({text}) {
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<pre tabindex="0">${escaped}</pre>\n`;
    },
  };
  marked.use({renderer});
  const [start, ...sections] =
      marked.parse(read(root, 'docs', 'reference', 'rules.md')).split(/(?=<h2 )/);
  const folded = sections.map((section) => {
    const [heading, rest] = section.split(/(?<=<\/h2>)/);
    return `<details>\n<summary>${heading}</summary>${rest}</details>\n`;
  });
  const body = [start, ...folded].join('');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <title>Rules of Tara</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="./icons/192.png" />
    <link rel="stylesheet" href="./rules.css" />
  </head>
  <body>
    <nav><a href="./">Play</a></nav>
    <main>
${body}
    </main>
  </body>
</html>
`;
}

// Returns those of all that is in the page, or in its engine alone.
export function licences({typefaces = true} = {}) {
  const packages = path.join(web, 'node_modules');
  const texts = {
    'Tara': read(root, 'LICENSE'),
    'fflate': read(packages, 'fflate', 'LICENSE'),
    'pbf': read(packages, 'pbf', 'LICENSE'),
  };
  if (typefaces) {
    texts['Alegreya'] =
        read(packages, '@fontsource-variable', 'alegreya', 'LICENSE');
    texts['Alegreya Sans'] =
        read(packages, '@fontsource', 'alegreya-sans', 'LICENSE');
  }
  for (const name of ['libabsl-dev', 'emscripten']) {
    texts[`${name}, of which parts are in tara_core.wasm`] =
        read('/usr/share/doc', name, 'copyright');
  }
  return Object.entries(texts)
      .map(([name, text]) => `${name}\n${'='.repeat(name.length)}\n\n${
        text.trim()}\n`)
      .join('\n\n');
}

// Paths of all files below a folder, sorted.
const filesOf = (folder) => readdirSync(folder, {recursive: true})
    .filter((name) => statSync(path.join(folder, name)).isFile())
    .sort();

// `network`: its bundle for the page, or null. `policy`: as text.
export function sitePlugin({network, policy}) {
  let folder;
  const hash = (name) =>
    createHash('sha256').update(readFileSync(path.join(folder, name)))
        .digest('base64');
  return {
    name: 'tara-site',
    configResolved: ({root: from, build}) => {
      folder = path.resolve(from, build.outDir);
    },
    transformIndexHtml: () => [
      {tag: 'link', attrs: {rel: 'manifest', href: './manifest.json'}},
      {tag: 'link', attrs: {rel: 'apple-touch-icon', href: './icons/180.png'}},
      ...Object.entries({light: DAY, dark: NIGHT}).map(([scheme, content]) => ({
        tag: 'meta',
        attrs: {
          name: 'theme-color',
          media: `(prefers-color-scheme: ${scheme})`,
          content,
        },
      })),
    ],
    async generateBundle(_, bundle) {
      const emit = (fileName, source) =>
        this.emitFile({type: 'asset', fileName, source});
      if (network !== null) emit('model.tara', network);
      for (const {fileName, source} of await drawIcons()) {
        emit(fileName, source);
      }
      emit('manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
      emit('rules.html', rulesPage(policy));
      // In the page's own typefaces and colours.
      const names =
          ['src/ui/styles/fonts', 'src/ui/styles/theme', 'site/rules'];
      const styles = names.map((name) => read(web, `${name}.css`)).join('');
      const font = (name) => Object.keys(bundle).find(
          (file) => file.startsWith(`assets/${name}-`));
      emit('rules.css', styles.replace(
          /url\('.*\/(.*?)\.woff2'\)/g, (_, name) => `url('./${font(name)}')`));
      emit('licences.txt', licences());
      emit('.nojekyll', '');  // GitHub Pages serves the files as they are
    },
    // Of the files as they lie there.
    writeBundle() {
      const kept = filesOf(folder).filter((name) => name !== '.nojekyll');
      const files = kept.map((name) => [
        name === 'index.html' ? '' : name,
        `sha256-${hash(name)}`,
      ]);
      writeFileSync(
          path.join(folder, WORKER),
          read(here, 'service_worker.js')
              .replace('/* FILES */', () => JSON.stringify(files, null, 1))
              .replace("'' /* POLICY */", () => JSON.stringify(policy)));
    },
  };
}
