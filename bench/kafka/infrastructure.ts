import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Infrastructure {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

const named = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DATABASE_URL'] as const;

/**
 * The Kafka, registry and PostgreSQL that the environment names with all three variables; else the same that
 * `npm run infra` gives, for the time of the measurement.
 */
export async function startInfrastructure(): Promise<Infrastructure> {
  const [brokers, registryUrl, databaseUrl] = named.map((name) => process.env[name]);
  if (brokers !== undefined && registryUrl !== undefined && databaseUrl !== undefined)
    return { brokers: brokers.split(','), registryUrl, databaseUrl, stop: () => Promise.resolve() };
  const root = join(import.meta.dirname, '..');
  const child = spawn(process.execPath, [join(root, 'test/infra/main.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const variables = await new Promise<Record<string, string>>((resolve, reject) => {
    child.stdout?.on('data', (piece: Buffer) => {
      output += piece.toString();
      const found = Object.fromEntries(
        [...output.matchAll(/^export (\w+)=(\S+)$/gm)].map((match) => [match[1] ?? '', match[2] ?? '']),
      );
      if (named.every((name) => name in found)) resolve(found);
    });
    void exited.then(() => reject(new Error(`Kafka, registry and PostgreSQL could not be started: ${output}`)));
  });
  return {
    brokers: (variables['KAFKA_BROKERS'] ?? '').split(','),
    registryUrl: variables['SCHEMA_REGISTRY_URL'] ?? '',
    databaseUrl: variables['DATABASE_URL'] ?? '',
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
