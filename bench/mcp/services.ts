import 'reflect-metadata';
import { join } from 'node:path';
import { createLog, openRuntime } from '@sluice/host';
import { Models } from '@sluice/model';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { startAudit } from '../../apps/audit/src/audit.module.js';
import { startExecutor } from '../../apps/executor/src/executor.module.js';
import { McpServers } from '../../apps/executor/src/mcp-servers.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { ConfigurationSource } from '../../apps/sluice/src/system/configuration-source.js';
import { embeddedIn } from '../loop.js';

/**
 * A process beside the one that measures, `FOLDER [audit]`: filter, agent, executor and the MCP server on SQLite in a
 * data folder, under its `sluice.yaml`. Its address is the first line that it writes; a message on its channel is
 * answered with the processor time that it has used.
 */
const [folder = '', audit] = process.argv.slice(2);
const environment = embeddedIn(folder);
const log = createLog('warn', process.stderr);
const open = await openRuntime(environment, log);
const { runtime } = open;
const servers = new McpServers(environment, log, () => undefined, runtime.traces);
const source = new ConfigurationSource(join(folder, 'sluice.yaml'), servers, runtime);
await source.start();
await runtime.configurations.start();
const models = new Models(() => undefined);
const services = [
  await startFilter(runtime),
  await startAgent(runtime, models),
  await startExecutor(runtime, servers, models),
  ...(audit === 'audit' ? [await startAudit(runtime)] : []),
];
const mcp = await startMcp(runtime);

async function close(): Promise<void> {
  await mcp.close();
  for (const service of services) await service.close();
  await source.close();
  await servers.close();
  await open.close();
}

const end = (): void => void close().finally(() => process.exit());
process.on('message', () => process.send?.(process.cpuUsage()));
process.once('SIGTERM', end);
process.once('disconnect', end);
console.log(mcp.url);
