/**
 * Opens the page of examples/assistant-ui in a DOM of this process, asks what its argument says, and prints the
 * page's text once it holds the second argument. Runs in the folder of the example, where happy-dom is installed
 * beside its packages.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [question, awaited] = process.argv.slice(2);
const here = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(here.resolve(name)).href);
const { Window } = await load('happy-dom');
const window = new Window({ url: 'http://localhost:5173/' });
for (const name of Object.getOwnPropertyNames(window))
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
Object.defineProperty(globalThis, 'window', { value: window, configurable: true });
const { document } = window;

const { createServer } = await load('vite');
const vite = await createServer({ server: { middlewareMode: true }, appType: 'custom', logLevel: 'error' });
const { App } = await vite.ssrLoadModule('/src/app.tsx');
const { createElement } = await load('react');
const { createRoot } = await load('react-dom/client');
const element = document.body.appendChild(document.createElement('div'));
createRoot(element).render(createElement(App));

/** What it sees once there is something; ends the process where that takes too long. */
async function once(look) {
  for (const until = Date.now() + 60_000; ;) {
    const found = look();
    if (found) return found;
    if (Date.now() > until) {
      console.error(`Not within 60 s. The page: ${document.body.innerHTML}`);
      process.exit(1);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const input = await once(() => document.querySelector('textarea'));
const { set } = Object.getOwnPropertyDescriptor(window.HTMLTextAreaElement.prototype, 'value');
set.call(input, question);
input.dispatchEvent(new window.Event('input', { bubbles: true }));
const button = await once(() => [...document.querySelectorAll('button')].find((one) => !one.disabled));
button.dispatchEvent(new window.MouseEvent('click', { bubbles: true, cancelable: true }));
console.log(await once(() => document.body.textContent.includes(awaited) && document.body.textContent));
process.exit(0);
