import { Models } from '@sluice/model';
import type { ModelSource } from '@sluice/model';
import { createLog, dataFiles, holdDataFolder, logToFile, openRuntime, prepareDataFolder } from '@sluice/host';
import type { AcceptChanges, Environment, OpenRuntime, Runtime } from '@sluice/host';
import { startAudit } from '../../../audit/src/audit.module.js';
import { startAgent } from '../../../agent/src/agent.module.js';
import { sayServerChange, startExecutor } from '../../../executor/src/executor.module.js';
import { McpServers } from '../../../executor/src/mcp-servers.js';
import { startNotifierWhenWanted } from '../../../notifier/src/notifier.module.js';
import { startFilter } from '../../../filter/src/filter.module.js';
import { ConfigurationSource } from './configuration-source.js';

/**
 * Starts all services in this process, under a configuration file that is followed or what is in force on the log.
 * Lines go to a file in the data folder.
 */
export async function startEmbedded(given: {
  readonly environment: Environment;
  /** Null for what is in force on the log. */
  readonly configFile: string | null;
  /** Another source of models than the providers' adapters and the built-in one. */
  readonly models?: ModelSource;
  /** Lines go to the file alone: the terminal shows something else. */
  readonly fileOnly?: boolean;
  /** What needs attention is for people, also where standard error is no terminal. */
  readonly isRead?: boolean;
  /** Starts what listens: until it is done the process is not ready. */
  readonly doors?: (open: OpenRuntime) => Promise<void>;
  /**
   * The services were run by another process until now: they begin under what is in force, and the file is compiled
   * beside.
   */
  readonly isTakeover?: boolean;
}): Promise<OpenRuntime> {
  const { environment, configFile } = given;
  const models = given.models ?? new Models((variable) => environment.secret(variable));
  prepareDataFolder(environment.dataFolder);
  const log = createLog(environment.logLevel, logToFile(dataFiles(environment).lines, given));

  let source: ConfigurationSource | undefined;
  const opened = await openRuntime(environment, log);
  const acceptChanges: AcceptChanges = async (server, pins) =>
    (await source?.accept(server, pins)) ?? { status: 'refused', why: 'The configuration is not compiled yet.' };
  const open =
    configFile === null ? opened : { ...opened, runtime: { ...opened.runtime, acceptChanges } satisfies Runtime };
  const { runtime, beforeClose } = open;
  try {
    // First of all: what is published below changes the work of the services that run.
    if (environment.bus === 'sqlite') beforeClose(await holdDataFolder(runtime));
    const onChange = (server: string): void => {
      if (source === undefined) sayServerChange(server, log);
      else void source.again('server');
    };
    const servers = new McpServers(environment, log, onChange, runtime.traces);
    beforeClose(() => servers.close());
    if (configFile !== null) {
      const followed = (source = new ConfigurationSource(configFile, servers, runtime));
      beforeClose(() => followed.close());
      if (given.isTakeover !== true) await followed.start();
    }
    await runtime.health.during('services', 'The services are being started.', async () => {
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
      const notifier = await startNotifierWhenWanted(runtime);
      beforeClose(() => notifier.close());
      await given.doors?.(open);
    });
    if (given.isTakeover === true) void source?.startBeside();
    return open;
  } catch (error) {
    await open.close();
    throw error;
  }
}
