import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** What starts a program in a network namespace of its own; null where none can be made, with the reason. */
export type Namespace = { readonly command: readonly string[] } | { readonly command: null; readonly why: string };

const programs = ['/usr/bin/unshare', '/bin/unshare'];
/** A user’s own namespace, so that no right is needed for the network’s. */
const options = ['--user', '--map-current-user', '--net', '--'];
const probeMs = 10_000;

let found: Promise<Namespace> | undefined;

/** Tried once in a process. */
export function networkNamespace(): Promise<Namespace> {
  return (found ??= probe());
}

async function probe(): Promise<Namespace> {
  if (process.platform !== 'linux') return { command: null, why: `${process.platform} has none` };
  const program = programs.find((each) => existsSync(each));
  if (program === undefined) return { command: null, why: `there is no ${programs.join(' or ')}` };
  try {
    const args = [...options, process.execPath, '--version'];
    await promisify(execFile)(program, args, { env: {}, timeout: probeMs });
    return { command: [program, ...options] };
  } catch (error) {
    const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string };
    const [line = ''] = (stderr.trim() === '' ? message : stderr.trim()).split('\n');
    return { command: null, why: line };
  }
}
