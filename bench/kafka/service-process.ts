import { createLog, openRuntime, readEnvironment } from '@sluice/service';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { startExecutor } from '../../apps/executor/src/executor.module.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { callsUntilFull } from './calling-model.js';
import { serversOf } from './services.js';

/** One service in a process of its own, with a model and a server that are functions; ends when its parent lets go. */
const [role, tool = ''] = process.argv.slice(2);
const opened = await openRuntime(readEnvironment(process.env), createLog('silent'));
await opened.runtime.configurations.start();
const models = { get: () => Promise.resolve(callsUntilFull(tool)) };
const start = {
  filter: () => startFilter(opened.runtime),
  agent: () => startAgent(opened.runtime, models),
  executor: () =>
    startExecutor(
      opened.runtime,
      serversOf(() => Promise.resolve()),
      models,
    ),
}[role as 'filter' | 'agent' | 'executor'];
const service = await start();
process.once('disconnect', () => void service.close().then(() => opened.close()));
process.send?.('serves');
