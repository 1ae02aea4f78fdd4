// A tool file’s process. It has no environment, and Node’s permission model; what the tool may use it asks the
// service for.
import { registerHooks } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { faultText, JsonTooLargeError, parseExactJson, ToolInputError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { defineTool, isContract } from '@sluice/tools';
import type { OwnContract } from '@sluice/tools';
import { toolKit } from './tool-kit.js';
import type { ToolKit } from './tool-kit.js';
import { CallInChild } from './call-in-child.js';
import { Channel } from './channel.js';
import { sentError } from './errors.js';
import type { FromChild, SentCall, SentOutput, ToChild } from './messages.js';
import { fetchByService } from './network/ask-fetch.js';
import { closeNetwork } from './network/close.js';
import { closedNames } from './closed-uses.js';
import { networkModule, networkNames } from './network/uses.js';
import { watchIntrinsics } from './intrinsics.js';
import type { Watch } from './intrinsics.js';
import { seal } from './seal.js';

// The service is gone when this is closed: what the tool still does is of no use.
const service = new Socket({ fd: 3 });
const channel = new Channel<FromChild, ToChild>(
  service,
  (message) => void take(message),
  () => process.exit(),
);
seal();
const isOpen = process.argv[2] === 'open';
if (!isOpen) {
  closeNetwork(service);
  fetchByService(() => call?.running);
}
/** What all code shares, as it was before the first call: what the file itself changes till then stays. */
let shared: Watch | undefined;
let notesAll = false;
/** Modules for a network that the tool’s file or a package of it has imported. */
const imported = new Set<string>();

let contract: OwnContract | undefined;
let call: { readonly n: number; readonly running: CallInChild } | undefined;

async function take(message: ToChild): Promise<void> {
  const { n } = message;
  switch (message.do) {
    case 'load':
      return say(n, async () => {
        contract = await load(message.path, message.source).catch(whyNotLoaded);
        notesAll = message.all;
        const { type, description, shortDescription, category, inputSchema, effect, redaction, repeatable } = contract;
        const { requiresConnection } = contract;
        const { capabilities, reconcile } = contract;
        const source = Buffer.from(message.source, 'base64').toString('utf8');
        const tool = {
          type,
          description,
          shortDescription,
          category,
          inputSchema,
          effect,
          redaction,
          repeatable,
          requiresConnection,
          capabilities,
          network: contract.network ?? ('none' as const),
          networkUses: [...networkNames(source), ...imported],
          closedUses: closedNames(source),
        };
        return { say: 'loaded', n, tool: { ...tool, reconciles: reconcile !== undefined } };
      });
    case 'parse':
      return say(n, async () => parse(n, message.args));
    case 'execute':
      return say(n, () =>
        during(n, message, async (running) => {
          const { execute, capabilities, parseOutput } = loaded();
          const given = running.capabilities(capabilities);
          const output = await execute(JSON.parse(message.args) as JsonValue, message.context, given);
          return checked(() => parseOutput(output));
        }),
      );
    case 'reconcile':
      return say(n, () =>
        during(n, message, async (running) => {
          const { reconcile, capabilities, parseOutput } = loaded();
          if (reconcile === undefined) throw new Error('The tool has no reconcile.');
          const asked = { ...message.context, key: message.key as string };
          const given = running.capabilities(capabilities);
          const answer = await reconcile(JSON.parse(message.args) as JsonValue, asked, given);
          if (answer.outcome !== 'happened') return { kind: 'value', value: answer };
          const result = checked(() => parseOutput(answer.result));
          return { kind: 'value', value: { outcome: 'happened', result } };
        }),
      );
    case 'abort':
      if (call?.n === n) call.running.abort(message.reason);
      return;
    case 'answer':
      if (call?.n === n) call.running.answer(message.ask, message);
      return;
  }
}

/** Says what the work gives, or what it threw. */
async function say(n: number, work: () => Promise<FromChild>): Promise<void> {
  // Looked at before a task rather than after one, as what a call leaves running may change something, too.
  if (contract !== undefined) {
    shared ??= watchIntrinsics(notesAll);
    // What is loaded late changes other parts: its own changes are no one’s fault.
    const changed = shared.missed ? null : shared.changed();
    if (changed !== null || shared.missed) return channel.send({ say: 'stale', n, changed });
  }
  let said: FromChild;
  try {
    said = await work();
  } catch (error) {
    said = { say: 'threw', n, error: sentError(error) };
  }
  channel.send(said);
}

async function during(
  n: number,
  sent: SentCall,
  work: (running: CallInChild) => Promise<SentOutput>,
): Promise<FromChild> {
  const running = new CallInChild(n, sent, (message) => channel.send(message));
  call = { n, running };
  try {
    return { say: 'ended', n, output: await work(running) };
  } finally {
    if (call.n === n) call = undefined;
  }
}

function parse(n: number, args: string): FromChild {
  try {
    return { say: 'parsed', n, args: JSON.stringify(loaded().parseInput(parseExactJson(args))) };
  } catch (error) {
    if (error instanceof ToolInputError) return { say: 'refused', n, problems: error.problems };
    throw error;
  }
}

function checked(shape: () => unknown): SentOutput {
  try {
    return { kind: 'value', value: shape() };
  } catch (error) {
    return error instanceof JsonTooLargeError ? { kind: 'too large' } : { kind: 'misshapen', why: faultText(error) };
  }
}

/** Imports the very bytes whose hash the configuration holds, whatever is in the file by now. */
async function load(path: string, source: string): Promise<OwnContract> {
  const file = pathToFileURL(path).href;
  const bytes = Buffer.from(source, 'base64');
  registerHooks({
    resolve: (specifier, context, next) => {
      const name = networkModule(specifier);
      if (name !== null) imported.add(name);
      return next(specifier, context);
    },
    load: (url, context, next) => (url === file ? { ...next(url, context), source: bytes } : next(url, context)),
  });
  const module = (await import(file).catch((error: unknown) => whereIn(file, error))) as { readonly default?: unknown };
  if (module.default === undefined)
    throw new Error('It has no default export: write `export default ({ defineTool, z }) => defineTool({ … })`.');
  const made: unknown =
    typeof module.default === 'function'
      ? await Promise.resolve()
          .then(() => (module.default as (kit: ToolKit) => unknown)(toolKit))
          .catch((error: unknown) => whereIn(file, error))
      : module.default;
  return isContract(made) ? made : defineTool(made as Parameters<typeof defineTool>[0]);
}

/** Throws the error again; one of the file's code says in which line it arose. */
function whereIn(file: string, error: unknown): never {
  const { stack, message, code } = error as { readonly [key in 'stack' | 'message' | 'code']?: unknown };
  const place = typeof stack === 'string' && code !== 'ERR_ACCESS_DENIED' ? lineIn(file, stack) : null;
  if (place === null || typeof message !== 'string') throw error;
  throw new Error(`${message} (line ${place})`, { cause: error });
}

/** Where the error arose, if that is in the file itself: what the kit says of a definition needs no line. */
function lineIn(file: string, stack: string): string | null {
  const top = /^\s+at .*$/m.exec(stack)?.[0] ?? '';
  // A stack names a module by its URL, and CommonJS by its path.
  const name = [file, fileURLToPath(file)].find((one) => top.includes(`${one}:`));
  if (name === undefined) return null;
  const [, line, column] = /^(\d+):(\d+)/.exec(top.slice(top.indexOf(`${name}:`) + name.length + 1)) ?? [];
  return line === undefined || column === undefined ? null : `${line}, column ${column}`;
}

function whyNotLoaded(error: unknown): never {
  const { code, resource } = error as { readonly code?: unknown; readonly resource?: unknown };
  if (code !== 'ERR_ACCESS_DENIED') throw error;
  throw new Error(
    `It uses ${typeof resource === 'string' && resource !== '' ? resource : 'what is closed to it'}: a tool may read its own folder and its packages, and nothing else.`,
  );
}

function loaded(): OwnContract {
  if (contract === undefined) throw new Error('The tool’s file is not loaded.');
  return contract;
}
