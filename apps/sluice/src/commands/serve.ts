import { parseArgs } from 'node:util';
import { processEnvironment, runProcess } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { services } from '@sluice/contracts';
import type { ServiceName } from '@sluice/contracts';
import type { CommandContext } from './command-context.js';

export const usage = `sluice serve [--role ${services.join('|')}|all] [--bus kafka|sqlite]
  Runs one service, or all of them, until it is asked to stop; any number of instances of a role share the work on Kafka.
  --role is all, and --bus what SLUICE_BUS says (sqlite), unless written.
  The configuration is the last one on agent.config: publish it with "sluice config apply FILE".
  docs/operations.md names the variables for Kafka, the schema registry and PostgreSQL.`;

type Start = (runtime: Runtime) => Promise<Service>;

/** Each is loaded when it is wanted: a process holds the memory of its own role only. */
const filter = async (): Promise<Start> => (await import('../../../filter/src/filter.module.js')).startFilter;
const agent = async (): Promise<Start> => (await import('../../../agent/src/agent.module.js')).serveAgent;
const executor = async (): Promise<Start> => (await import('../../../executor/src/executor.module.js')).serveExecutor;

const audit = async (): Promise<Start> => (await import('../../../audit/src/audit.module.js')).startAudit;
const notifier = async (): Promise<Start> => (await import('../../../notifier/src/notifier.module.js')).startNotifier;
const proxy = async (): Promise<Start> => (await import('../../../proxy/src/proxy.module.js')).startProxy;
const gateway = async (): Promise<Start> => (await import('../../../gateway/src/gateway.module.js')).startGateway;
const mcp = async (): Promise<Start> => (await import('../../../mcp/src/mcp.module.js')).startMcp;

const starts: Readonly<Record<ServiceName, () => Promise<Start>>> = {
  filter,
  agent,
  executor,
  audit,
  gateway,
  proxy,
  mcp,
  notifier,
};
const roles: readonly string[] = [...services, 'all'];

export async function run(args: readonly string[], { environment }: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { role: { type: 'string', default: 'all' }, bus: { type: 'string' } },
  });
  if (!roles.includes(values.role)) throw new Error(`There is no role ${values.role}. There are: ${roles.join(', ')}.`);
  const served = services.filter((service) => values.role === 'all' || values.role === service);
  const { calledAs } = environment;
  const own = processEnvironment(values.bus === undefined ? {} : { SLUICE_BUS: values.bus });
  return runProcess(
    { ...own, ...(calledAs === undefined ? {} : { calledAs }) },
    await Promise.all(served.map((service) => starts[service]())),
  );
}
