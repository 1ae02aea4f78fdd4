import { kinds, valueOf, variables } from './address.ts';
import { infra } from './client.ts';
import { launch } from './launch.ts';
import { supervisorVariable } from './protocol.ts';

/**
 * `npm run infra`: the parts that the tests get, for a developer, until Ctrl-C or until whoever started this is gone.
 * Names behind it, such as `neo4j`, are the parts to start; without any, those that services need.
 */
const named = kinds.filter((kind) => process.argv.slice(2).includes(kind));
const wanted = named.length > 0 ? named : kinds.filter((kind) => kind !== 'neo4j');
const supervisor = await launch();
process.env[supervisorVariable] = supervisor.url;

let stopping = false;
async function stop(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  await supervisor.stop();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
process.on('disconnect', () => void stop(0));
const parent = process.ppid;
setInterval(() => process.ppid === parent || void stop(0), 500);

try {
  const addresses = await Promise.all(wanted.map((kind) => infra(kind)));
  for (const address of addresses) console.log(`export ${variables[address.kind]}=${valueOf(address)}`);
  console.log('# Ctrl-C stops what was started.');
} catch (error) {
  if (!stopping) console.error(error instanceof Error ? error.message : error);
  await stop(1);
}
