/**
 * `npm run stack`: builds the image, brings the stack of docker-compose.yml up, waits until all of it is ready and
 * says where to look. `npm run stack -- down` and the like hand their words to Compose. Needs nothing but Docker and
 * Node.
 */
import { spawnSync } from 'node:child_process';

const waitMs = 180_000;

/** Compose as Docker's plugin, or as the program it was before. */
export function compose() {
  const found = [['docker', 'compose'], ['docker-compose']].find(
    ([program, ...first]) => spawnSync(program, [...first, 'version'], { stdio: 'ignore' }).status === 0,
  );
  if (found === undefined)
    throw new Error('Neither `docker compose` nor `docker-compose` can be run. Install Docker, and start it.');
  return found;
}

function run([program, ...first], args, cwd, stdio = 'inherit') {
  const { status, stdout } = spawnSync(program, [...first, ...args], { cwd, stdio, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${[program, ...first, ...args].join(' ')} ended with ${status}; the lines above say why.`);
  return stdout ?? '';
}

/** What every container says of itself: its name, whether it runs, its health, and how it ended if it did. */
function inspect(ids, cwd) {
  const inspected = run(['docker'], ['inspect', ...ids], cwd, ['ignore', 'pipe', 'inherit']);
  return JSON.parse(inspected).map(({ Name, State }) => ({
    name: Name.slice(1),
    ready: State.Running ? State.Health?.Status === 'healthy' : State.Status === 'exited' && State.ExitCode === 0,
    says: State.Health?.Log?.at(-1)?.Output?.trim() ?? `ended with ${State.ExitCode}`,
  }));
}

/** Resolves when every container of the stack is healthy or has ended well; throws what those say that are not. */
export async function untilReady(docker, cwd) {
  // Once: Compose takes a second of a processor to tell, which those that start have better use for.
  const ids = run(docker, ['ps', '-aq'], cwd, ['ignore', 'pipe', 'inherit']).split('\n').filter(Boolean);
  for (const until = Date.now() + waitMs; ;) {
    const waiting = inspect(ids, cwd).filter(({ ready }) => !ready);
    if (waiting.length === 0) return;
    if (Date.now() > until)
      throw new Error(`Not ready: ${waiting.map(({ name, says }) => `${name} (${says})`).join('; ')}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const port = (name, otherwise) => process.env[name] || otherwise;

/** Resolves when the stack is ready, or the other command is done; throws a sentence for what went wrong. */
export async function stack(args, root) {
  const docker = compose();
  if (args.length > 0) return void run(docker, args, root);
  const began = Date.now();
  run(docker, ['up', '--build', '--detach'], root);
  await untilReady(docker, root);
  console.log(`
Ready after ${Math.round((Date.now() - began) / 1_000)} s. Grafana http://localhost:${port('GRAFANA_PORT', 3000)} · Prometheus http://localhost:${port('PROMETHEUS_PORT', 9090)} · Kafka localhost:${port('KAFKA_PORT', 9092)}
Ask:  ${docker.join(' ')} run --rm sluice ask "What is the capital of Japan?" --group read-only
End:  npm run stack -- down`);
}
