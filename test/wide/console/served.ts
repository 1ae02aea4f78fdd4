import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { sluice } from '../../harness/program.js';
import type { Program } from '../../harness/program.js';

export interface Served {
  readonly base: string;
  /** The one-time link that `sluice start` printed. */
  readonly link: string;
  readonly data: string;
  readonly program: Program;
  /** The local secret, where no identity is configured. */
  secret(): string;
  /** Ends the services and, unless told to keep it, removes the data folder. */
  close(options?: { readonly keepsData?: boolean }): Promise<void>;
}

const started: Program[] = [];

/** Runs `sluice start` as a user does, on a data folder of its own. */
export async function served(variables: Readonly<Record<string, string>> = {}, data?: string): Promise<Served> {
  const folder = data ?? mkdtempSync(join(tmpdir(), 'sluice-console-'));
  const program = sluice(['start'], { SLUICE_DATA: folder, ...variables });
  started.push(program);
  await program.says('It keeps serving.');
  const said = program.said();
  const base = /http (http:\/\/127\.0\.0\.1:\d+)\/v1\/runs/.exec(said)?.[1];
  if (base === undefined) throw new Error(`It did not say where it serves: ${said}`);
  return {
    base,
    link: /http:\/\/127\.0\.0\.1:\d+\/#sign-in=\S+/.exec(said)?.[0] ?? base,
    data: folder,
    program,
    secret: () => readFileSync(join(folder, 'local-secret'), 'utf8').trim(),
    close: async ({ keepsData = false } = {}) => {
      program.process.kill('SIGTERM');
      await program.ended;
      if (!keepsData) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ends what a test that failed left running. */
export async function endAll(): Promise<void> {
  for (const program of started.splice(0)) {
    program.process.kill('SIGTERM');
    await program.ended;
  }
}

/** Signs in by what a person pastes: a token, an API key or the local secret. */
export async function signInBy(page: Page, base: string, credential: string, path = '/'): Promise<void> {
  await page.goto(base + path);
  await page.locator('input[type=password]').fill(credential);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
}

/** Asks over HTTP as any client does; waits for the end where it is told to. */
export async function ask(
  { base, secret }: Served,
  question: string,
  requestId: string,
  {
    waitSeconds = 0,
    credential = secret(),
    agent = null,
  }: { readonly waitSeconds?: number; readonly credential?: string; readonly agent?: string | null },
): Promise<void> {
  const response = await fetch(`${base}/v1/runs`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${credential}`,
      ...(waitSeconds === 0 ? {} : { prefer: `wait=${waitSeconds}` }),
    },
    body: JSON.stringify({ question, request_id: requestId, group: ['read', 'write', 'support'], agent }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}

/** Another one-time link, as an operator gets one for services that run. */
export async function newLink({ base, data }: Served): Promise<string> {
  const { output, errors } = await sluice(['console'], { SLUICE_DATA: data, SLUICE_HTTP_PORT: new URL(base).port })
    .ended;
  const code = /#sign-in=(\S+)/.exec(output)?.[1];
  if (code === undefined) throw new Error(`sluice console gave no link: ${output}${errors}`);
  return `${base}/#sign-in=${code}`;
}
