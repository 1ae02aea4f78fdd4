import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import {
  createLog,
  dataFiles,
  logToFile,
  openLogFile,
  openRuntime,
  ownToken,
  prepareDataFolder,
  verifierIfAny,
} from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { serveOverStdio } from '../../../mcp/src/stdio.js';
import type { Surroundings } from '../commands/surroundings.js';
import { appliedConfiguration } from './applied.js';
import { startEmbedded } from './embedded.js';

/** Serves one MCP client over this process’s standard input and output, until the client leaves. */
export async function serveMcpOverStdio(surroundings: Surroundings): Promise<number> {
  const { environment, stopped } = surroundings;
  const open = await opened(surroundings);
  try {
    const transport = new StdioServerTransport();
    const service = await serveOverStdio(open.runtime, ownToken(environment), transport);
    open.beforeClose(() => service.close());
    const reason = await Promise.race([service.ended, stopped, open.failed]);
    if (reason instanceof Error) throw reason;
    return 0;
  } finally {
    await open.close();
  }
}

/** Beside the services that run, on Kafka or on the data folder; else with all services in this process. Standard output is the protocol’s. */
async function opened({ environment, log, sampleConfiguration }: Surroundings): Promise<OpenRuntime> {
  const own = { ...environment, port: 0 };
  let { configFile } = environment;
  if (environment.bus === 'sqlite') {
    const bus = await openLogFile(environment, log);
    try {
      if ((await bus.holderOf('filter')) === null) {
        if (configFile === null && (await appliedConfiguration(bus, verifierIfAny(environment))) === null)
          configFile = await sampleConfiguration();
        return await startEmbedded({ environment: own, configFile, fileOnly: true });
      }
    } finally {
      await bus.close();
    }
  }
  prepareDataFolder(environment.dataFolder);
  const lines = createLog(environment.logLevel, logToFile(dataFiles(environment).lines, { fileOnly: true }));
  const open = await openRuntime(own, lines);
  await open.runtime.configurations.start();
  return open;
}
