import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured } from '../discovery/child.js';
import type { Child } from '../discovery/child.js';
import { howAServiceIsStarted } from '../node-flags.js';

const ofBench = (name: string): string => join(import.meta.dirname, '../bench', name);

/** The upstream server, with so many tools at /many. Its address has no path. */
export const startUpstream = (manyTools = 0): Promise<Child> =>
  startNode(ofBench('mcp-upstream.mjs'), [String(manyTools)]);

/** A relay of the SDK's client and server in front of an MCP server. */
export const startRelay = (url: string): Promise<Child> => startNode(ofBench('mcp-relay.mjs'), [url]);

/** The services that a call goes through, with an address for MCP clients. */
export interface Services extends Child {
  readonly folder: string;
}

/** Filter, agent, executor and the MCP server on SQLite, in a fresh data folder or one that stays behind. */
export async function startServices(
  configuration: string,
  { audit, folder: given }: { readonly audit: boolean; readonly folder?: string },
): Promise<Services> {
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'sluice-bench-')));
  const remove = async (): Promise<void> => {
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    await writeFile(join(folder, 'sluice.yaml'), configuration);
    const program = join(import.meta.dirname, 'mcp-services.js');
    const child = await startNode(program, [folder, ...(audit ? ['audit'] : [])]);
    const close = async (): Promise<void> => {
      await child.close();
      await remove();
    };
    return { ...child, folder, close };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Started as a process that runs alone; its first line is its address. It says by message what it has used. */
async function startNode(program: string, args: readonly string[]): Promise<Child> {
  const { nodeVariables } = await howAServiceIsStarted();
  const child = spawn(process.execPath, ['--disable-warning=TimeoutNegativeWarning', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...nodeVariables },
  });
  const line = await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data').then(([data]) => String(data).trim()),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${String(code)} before it served.`);
    }),
  ]);
  const processor = async (): Promise<number> => {
    const answered = once(child, 'message') as Promise<[NodeJS.CpuUsage]>;
    child.send('usage');
    const [{ user, system }] = await answered;
    return (user + system) / 1_000;
  };
  return { ...measured(child, line), processor };
}
