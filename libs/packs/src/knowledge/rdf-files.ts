import { extname } from 'node:path';
import type { WorkerTask } from './query-worker.js';
import { StoreTaskError } from './store-thread.js';

const formats: Readonly<Record<string, string>> = {
  '.nt': 'application/n-triples',
  '.ttl': 'text/turtle',
  '.nq': 'application/n-quads',
  '.trig': 'application/trig',
  '.n3': 'text/n3',
  '.rdf': 'application/rdf+xml',
  '.owl': 'application/rdf+xml',
  '.xml': 'application/rdf+xml',
  '.jsonld': 'application/ld+json',
};

/** The task that loads a file. Throws if its name does not say what is in it. */
export function loadTask(path: string): WorkerTask {
  const format = formats[extname(path).toLowerCase()];
  if (format === undefined) {
    throw new Error(
      `${path} cannot be loaded: its name must end in ${Object.keys(formats).join(', ')}, which says how it is written.`,
    );
  }
  return { task: 'load', path, format };
}

/** Why a file was not loaded, as a sentence with its name and, where it is broken, the line. */
export function loadProblem(path: string, error: unknown): Error {
  if (!(error instanceof StoreTaskError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code === 'ENOENT')
    return new Error(`${path} is not there. Create it, or take it out of knowledge.load.`, { cause: error });
  if (error.code !== null)
    return new Error(
      `${path} cannot be read (${error.code}). Make it a readable file, or take it out of knowledge.load.`,
      { cause: error },
    );
  const broken = /line (\d+).*?: (.*)$/s.exec(error.message);
  const where =
    broken === null ? `${path} cannot be loaded: ${error.message}` : `${path}, line ${broken[1]}: ${broken[2]}`;
  return new Error(`${where}. Mend the file, or take it out of knowledge.load.`, { cause: error });
}
