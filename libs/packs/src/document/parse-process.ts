import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { printable, ToolUnavailableError, ToolUserError } from '@sluice/core';
import { guardProcess, withoutLinks } from '@sluice/isolation';
import { documentLimits } from './document.js';
import type { DocumentFormat, ParsedDocument } from './document.js';
import type { Parsed } from './parse-child.js';

/** Megabytes that a parser may take: of V8’s heap, and on Linux in all. */
const parserMemory = { heap: 256, whole: 640 } as const;

const lookEveryMs = 50;
const answerBytes = 64 * 1_048_576;
/** Parsers at a time: each may take its whole memory. */
const atOnce = 2;

const fromSource = import.meta.url.endsWith('.ts');
const libraries = join(import.meta.dirname, '../../..');
const entry = join(import.meta.dirname, fromSource ? 'parse-child.ts' : 'parse-child.js');
const sourceHooks = join(libraries, '../test/process/typescript.mjs');
/** What a parser reads: its files, which hold the packages it uses; the sources and the packages, where these run. */
const ownCode = fromSource
  ? [libraries, sourceHooks, ...withoutLinks(packageFolder())]
  : readdirSync(import.meta.dirname).flatMap((name) =>
      name.startsWith('parse-child') ? [join(import.meta.dirname, name)] : [],
    );

function packageFolder(): string {
  return dirname(dirname(realpathSync(createRequire(import.meta.url).resolve('zod/package.json'))));
}

let running = 0;
const waiting: (() => void)[] = [];

interface ParseOptions {
  /** Of an HTML page, by the header it came with. */
  readonly charset?: string | null;
  readonly parseMs?: number;
}

/**
 * Parses a document in a process of its own, so that a file made to exhaust its parser ends that process and nothing
 * else. Throws ToolUserError for a file that cannot be parsed within the limits.
 */
export async function parseInProcess(
  format: DocumentFormat,
  bytes: Uint8Array,
  signal: AbortSignal,
  { charset = null, parseMs = documentLimits.parseMs }: ParseOptions = {},
): Promise<ParsedDocument> {
  if (running >= atOnce) await turn(signal);
  else running++;
  try {
    signal.throwIfAborted();
    return await parse(launch(format, charset), format, bytes, signal, parseMs);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** Waits for a parser to end; its place is then this call’s. */
function turn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const stop = (): void => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(signal.reason as Error);
    };
    if (signal.aborted) return reject(signal.reason as Error);
    waiting.push(go);
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function parse(
  child: ChildProcess,
  format: DocumentFormat,
  bytes: Uint8Array,
  signal: AbortSignal,
  parseMs: number,
): Promise<ParsedDocument> {
  let why: string | null = null;
  const end = (reason: string): void => {
    why ??= reason;
    child.kill('SIGKILL');
  };
  const stop = (): void => end('the call has ended');
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => end(`parsing it takes longer than ${parseMs / 1_000} seconds`), parseMs);
  const watch = setInterval(() => void lookAtMemory(child, end), lookEveryMs);
  try {
    child.stdin?.on('error', () => undefined).end(bytes);
    const errors = collect(child.stderr as Readable, 65_536);
    const said = await collect(child.stdio[3] as Readable, answerBytes, () => end('its text is too long'));
    await new Promise<void>((resolve) =>
      child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('close', () => resolve()),
    );
    signal.throwIfAborted();
    if (why === null && /heap out of memory|Array buffer allocation failed/.test(await errors)) why = tooMuchMemory;
    if (why !== null) throw new ToolUserError(`The document cannot be read: ${why as string}. Take a smaller one.`);
    return documentOf(said, format);
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(timer);
    clearInterval(watch);
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

const tooMuchMemory = 'parsing it takes too much memory';

function documentOf(said: string, format: DocumentFormat): ParsedDocument {
  if (said === '') throw new ToolUnavailableError('The parser of documents did not answer.');
  const parsed = JSON.parse(said) as Parsed;
  if (parsed.ok) return parsed.document;
  if (/allocation failed|Invalid array length|Invalid string length/.test(parsed.message))
    throw new ToolUserError(`The document cannot be read: ${tooMuchMemory}. Take a smaller one.`);
  const why = /password/i.test(parsed.message)
    ? 'it is protected by a password'
    : printable(parsed.message)
        .slice(0, 200)
        .replace(/[.\s]+$/, '');
  throw new ToolUserError(
    `The document cannot be read as ${format.toUpperCase()}: ${why}. Give a sound file of that kind.`,
  );
}

function launch(format: DocumentFormat, charset: string | null): ChildProcess {
  const args = [
    '--permission',
    ...ownCode.map((each) => `--allow-fs-read=${each}`),
    '--no-experimental-sqlite',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${String(parserMemory.heap)}`,
    ...(fromSource ? ['--experimental-transform-types', `--import=${sourceHooks}`] : []),
    entry,
    format,
    ...(charset === null ? [] : [charset]),
  ];
  const stdio = ['pipe', 'ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env: {}, stdio: [...stdio], detached: true });
  guardProcess(child);
  child.on('error', () => undefined);
  return child;
}

async function lookAtMemory(child: ChildProcess, end: (why: string) => void): Promise<void> {
  if (process.platform !== 'linux' || child.pid === undefined) return;
  const status = await readFile(`/proc/${String(child.pid)}/status`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (Number(kilobytes) > parserMemory.whole * 1_024) end(tooMuchMemory);
}

/** All that a stream gives, at most so many bytes. */
async function collect(stream: Readable, most: number, onMore: () => void = () => undefined): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= most) parts.push(part);
      else onMore();
    });
    stream.on('error', () => resolve()).on('close', () => resolve());
  });
  return Buffer.concat(parts).toString('utf8');
}
