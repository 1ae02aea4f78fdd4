import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Infrastructure {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** The same Kafka, registry and PostgreSQL that `npm run infra` gives, for the time of the measurement. */
export async function startInfrastructure(): Promise<Infrastructure> {
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
      if ('KAFKA_BROKERS' in found && 'SCHEMA_REGISTRY_URL' in found && 'DATABASE_URL' in found) resolve(found);
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
