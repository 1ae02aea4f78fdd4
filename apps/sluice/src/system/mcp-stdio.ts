import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createLog, dataFiles, logToFile, openLogFile, openRuntime, ownToken, prepareDataFolder } from '@sluice/host';
import type { Environment, OpenRuntime, Runtime } from '@sluice/host';
import { LineInput } from '../../../mcp/src/line-input.js';
import { serveOverStdio } from '../../../mcp/src/stdio.js';
import type { CommandContext } from '../commands/command-context.js';
import { appliedConfiguration } from './applied.js';
import { startEmbedded } from './embedded.js';
import { SharedServices } from './shared-services.js';

/**
 * How long services may let running calls end when the client of their process leaves, in milliseconds: its other
 * clients' calls wait meanwhile.
 */
const mostDrainMs = 500;
const lookEveryMs = 50;

/**
 * Serves one MCP client over this process’s standard input and output, until the client leaves. Standard output is
 * the protocol’s.
 */
export async function serveMcpOverStdio(surroundings: CommandContext): Promise<number> {
  const { environment, stopped } = surroundings;
  prepareDataFolder(environment.dataFolder);
  const lines = createLog(environment.logLevel, logToFile(dataFiles(environment).lines, { fileOnly: true }));
  const open = await openRuntime({ ...environment, port: 0 }, lines);
  const input = new LineInput();
  try {
    await open.runtime.configurations.start();
    if (environment.bus === 'sqlite' && !(await withServices(open, surroundings))) return 0;
    pipeline(process.stdin, input, () => undefined); // how it ended the transport says
    const transport = new StdioServerTransport(input);
    // A client that leaves before its first message has no server that could hear of it.
    const left = new Promise<void>((resolve) => void input.once('close', resolve));
    const service = await serveOverStdio(open.runtime, ownToken(environment), transport);
    open.beforeClose(() => service.close());
    const reason = await Promise.race([service.ended, left, stopped, open.failed]);
    if (reason instanceof Error) throw reason;
    return 0;
  } finally {
    await open.close();
    input.destroy();
  }
}

/**
 * Beside the services that run on the data folder, and where none do, with all of them in this process. False where
 * this process was stopped before a client could be served.
 */
async function withServices(
  { runtime, beforeClose, failed }: OpenRuntime,
  surroundings: CommandContext,
): Promise<boolean> {
  const { environment, log } = surroundings;
  const bus = await openLogFile(environment, log);
  beforeClose(() => bus.close());
  const own: Environment = { ...environment, port: 0, drainMs: Math.min(environment.drainMs, mostDrainMs) };
  const services = new SharedServices({
    bus,
    log: runtime.log,
    isUsable: () => runtime.configurations.inForceOrNull() !== null,
    start: async (isTakeover) => {
      let { configFile } = environment;
      if (configFile === null && (await appliedConfiguration(bus, runtime.signatures)) === null)
        configFile = await surroundings.sampleConfiguration();
      return startEmbedded({ environment: own, configFile, fileOnly: true, isTakeover });
    },
  });
  beforeClose(() => services.close());
  const serving = new AbortController();
  const usable = services.ready.then(() => configured(runtime, serving.signal));
  try {
    const reason = await Promise.race([usable, surroundings.stopped, failed]);
    if (reason instanceof Error) throw reason;
    return reason === undefined;
  } finally {
    serving.abort();
  }
}

/** What services put in force as they start is read here a moment later. */
async function configured({ configurations }: Runtime, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && configurations.inForceOrNull() === null) await delay(lookEveryMs);
}
