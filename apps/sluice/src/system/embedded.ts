import { Models } from '@sluice/model';
import type { ModelSource } from '@sluice/model';
import { createLog, dataFiles, logToFile, openRuntime, prepareDataFolder } from '@sluice/service';
import type { Environment, OpenRuntime } from '@sluice/service';
import { startAudit } from '../../../audit/src/audit.module.js';
import { startAgent } from '../../../agent/src/agent.module.js';
import { startExecutor } from '../../../executor/src/executor.module.js';
import { McpServers } from '../../../executor/src/mcp-servers.js';
import { startFilter } from '../../../filter/src/filter.module.js';
import { ConfigurationSource } from './configuration-source.js';

/** Starts all services in this process, under a configuration file that is followed. Lines go to a file in the data folder. */
export async function startEmbedded(given: {
  readonly environment: Environment;
  readonly configFile: string;
  /** Another source of models than the providers' adapters and the built-in one. */
  readonly models?: ModelSource;
}): Promise<OpenRuntime> {
  const { environment, configFile } = given;
  const models = given.models ?? new Models((variable) => environment.secret(variable));
  prepareDataFolder(environment.dataFolder);
  const log = createLog(environment.logLevel, logToFile(dataFiles(environment).lines));

  const open = await openRuntime(environment, log);
  const { runtime, beforeClose } = open;
  try {
    const servers = new McpServers(environment, log, () => void source.again('server'));
    beforeClose(() => servers.close());
    const source = new ConfigurationSource(configFile, servers, runtime);
    beforeClose(() => source.close());
    await source.start();
    await runtime.configurations.start();
    for (const start of [
      () => startFilter(runtime),
      () => startAgent(runtime, models),
      () => startExecutor(runtime, servers, models),
      () => startAudit(runtime),
    ]) {
      const service = await start();
      beforeClose(() => service.close());
    }
    return open;
  } catch (error) {
    await open.close();
    throw error;
  }
}
