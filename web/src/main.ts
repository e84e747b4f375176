// The start of the page: makes the engine, then the page around it.

import './ui/styles/fonts.css';
import './ui/styles/theme.css';
import './ui/styles/page.css';
import './ui/styles/board.css';
import './ui/styles/panels.css';
import './ui/styles/dialogs.css';
import './ui/styles/low.css';
import { fetchDefaultModel } from './engine/fetching';
import { createEngine } from './engine/engine';
import { App } from './ui/app';
import { byId } from './ui/dom';
import { applyTheme, theme } from './ui/preferences';
import { messageOf } from './error';
import { giveWay, keepOffline } from './site';

const IS_SITE = import.meta.env.MODE === 'site';

async function main(): Promise<void> {
  applyTheme(theme());
  if (IS_SITE) await giveWay();
  const engine = await createEngine();
  const app = new App(engine, await engine.game());
  const begun = begin(app);
  if (IS_SITE) {
    void keepOffline(begun, (sentence) => app.notices.show(sentence));
  }
  await begun;
}

async function begin(app: App): Promise<void> {
  await app.start();
  // After the first drawing, which is due in this frame.
  requestAnimationFrame(() => document.body.classList.add('ready'));
  const model = await fetchDefaultModel();
  if (model !== null) {
    await app.loadOwnNetwork(new Blob([model.data]), model.name);
  }
  app.session.begin();
}

main().catch((error: unknown) => {
  byId('start-note').textContent =
    `The page could not start: ${messageOf(error)}`;
});
