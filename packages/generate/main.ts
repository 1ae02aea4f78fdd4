/**
 * Writes the types of the clients from schemas/openapi.json and the schemas of the records, and the blocking Python
 * client from the other. Run it with `npm run generate`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AvroRecord, Description } from './description.ts';
import { pythonCalls } from './python-calls.ts';
import { blockingClient } from './python-sync.ts';
import { modelsOfApi, modelsOfRecords } from './python.ts';
import { typeScriptCalls } from './typescript-calls.ts';
import { typesOfApi, typesOfRecords } from './typescript.ts';

/** Those that an upstream system reads or writes, and what is in them. */
const onTheBus = ['AgentRequest', 'AgentStepResult', 'AgentResponse', 'AgentProgress', 'Cancellation'];

const python = join(import.meta.dirname, '../client-python/src/sluice_client');

/** The generated files by their path from packages/. */
export function generate(schemaFolder: string): Readonly<Record<string, string>> {
  const read = <T>(file: string): T => JSON.parse(readFileSync(join(schemaFolder, file), 'utf8')) as T;
  const description = read<Description>('openapi.json');
  const all = readdirSync(schemaFolder)
    .filter((file) => file.endsWith('.avsc'))
    .map((file) => read<AvroRecord>(file));
  const records = withParts(onTheBus, all);
  const resources = pythonCalls(description);
  return {
    'client/src/generated/api.ts': typesOfApi(description),
    'client/src/generated/calls.ts': typeScriptCalls(description),
    'client/src/generated/records.ts': typesOfRecords(records),
    'client-python/src/sluice_client/models.py': modelsOfApi(description),
    'client-python/src/sluice_client/records.py': modelsOfRecords(records),
    'client-python/src/sluice_client/_resources.py': resources,
    'client-python/src/sluice_client/_sync_resources.py': blockingClient(resources),
    'client-python/src/sluice_client/_sync_transport.py': blockingClient(
      readFileSync(join(python, '_transport.py'), 'utf8'),
    ),
    'client-python/src/sluice_client/_sync.py': blockingClient(readFileSync(join(python, '_async.py'), 'utf8')),
  };
}

/** The records of these names and those that are inside them, by name. */
function withParts(names: readonly string[], all: readonly AvroRecord[]): readonly AvroRecord[] {
  const wanted = new Set(names);
  for (const name of wanted) {
    const record = all.find((one) => one.name === name);
    if (record === undefined) throw new Error(`There is no schema ${name}.`);
    const types = JSON.stringify(record.fields.map(({ type }) => type));
    for (const { name: other } of all) if (types.includes(`"${other}"`)) wanted.add(other);
  }
  return all.filter(({ name }) => wanted.has(name)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generate(join(import.meta.dirname, '../../schemas')))) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
