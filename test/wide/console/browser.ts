import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import axe from 'axe-core';
import type { AxeResults } from 'axe-core';

/** Debian’s Chromium or another one of this machine: `SLUICE_CHROMIUM`, or the first of its names on the path. */
function chromiumPath(): string {
  const named = process.env['SLUICE_CHROMIUM'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = named ?? names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
  if (found === undefined)
    throw new Error(
      'There is no Chromium on this machine. Install it (on Debian `apt-get install chromium`), or name its program in SLUICE_CHROMIUM.',
    );
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function startBrowser(): Promise<Browser> {
  // The sandbox of Chromium needs rights that root in a container has not; all it opens here is this machine’s.
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A page, and all that went wrong in it: uncaught errors, policy violations, requests to anywhere but its gateway. */
export interface WatchedPage {
  readonly page: Page;
  readonly wrong: string[];
}

/** Says where in the page its policy was violated, which the browser's own line does not. */
const sayWhereViolated = `addEventListener('securitypolicyviolation', (event) => console.error('content security policy:',
  event.violatedDirective, location.pathname, event.sourceFile, event.lineNumber, event.columnNumber, event.target.outerHTML))`;

export async function watchedPage(context: BrowserContext, base: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const wrong: string[] = [];
  await page.addInitScript(sayWhereViolated);
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) wrong.push(`policy: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    // What other pages load, as an issuer’s own, is theirs.
    if (!request.frame().url().startsWith(base)) return;
    if (!url.startsWith(base) && !/^(data|blob|about):/.test(url)) wrong.push(`elsewhere: ${url}`);
  });
  return { page, wrong };
}

/** Rules that axe finds broken in the page as it is now, each with the first place. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Evaluated by the protocol, which the page’s own policy does not hold.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
  return violations.map(({ id, help, nodes }) => {
    const [first] = nodes;
    return `${id}: ${help} (${nodes.length}): ${first?.html ?? ''} ${first?.failureSummary ?? ''}`;
  });
}

/** By how many pixels the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  const wider = '(of) => of.scrollWidth - of.clientWidth';
  return page.evaluate<number>(
    `Math.max(...[document.getElementById('content') ?? document.body, document.documentElement].map(${wider}))`,
  );
}
