import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Processor time of what listens on a port of this machine, with its children. */
export interface Listener {
  /** Seconds so far, those of children that ended among them. */
  cpu(): number;
}

/** Undefined where it is not on this machine, is not ours to look at, or the machine is no Linux. */
export function listenerOn(port: number): Listener | undefined {
  const pid = ownerOf(port);
  if (pid === undefined) return undefined;
  return { cpu: () => [pid, ...childrenOf(pid)].reduce((all, each) => all + secondsOf(each, each === pid), 0) };
}

function ownerOf(port: number): number | undefined {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = ['tcp', 'tcp6'].flatMap((name) => read(`/proc/net/${name}`).split('\n'));
  const inodes = new Set(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(wanted) && state === '0A')
      .map((cells) => `socket:[${cells[9]}]`),
  );
  return pids().find((pid) => socketsOf(pid).some((one) => inodes.has(one)));
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function socketsOf(pid: number): readonly string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

function childrenOf(parent: number): readonly number[] {
  return pids().filter((pid) => Number(statOf(pid)[1]) === parent);
}

/** Hundredths of a second of user, system and, of the parent alone, ended children. */
function secondsOf(pid: number, withEnded: boolean): number {
  const stat = statOf(pid).map(Number);
  return [11, 12, ...(withEnded ? [13, 14] : [])].reduce((all, at) => all + (stat[at] ?? 0), 0) / 100;
}

/** The cells behind the name, which may hold spaces: state, parent, … */
function statOf(pid: number): readonly string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
