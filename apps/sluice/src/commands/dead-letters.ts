import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { faultCodes, printable } from '@sluice/core';
import type { Ledger } from '@sluice/core';
import { isTopic } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import {
  asksForCredentials,
  letterAt,
  letterJson,
  letterPosition,
  planRedrive,
  readLetters,
  redrive,
  redriveFacts,
  redriveOf,
} from '@sluice/run';
import type { Letter, LetterFilter, Plan } from '@sluice/run';
import { requireBelonging, systemClock, verifierIfAny } from '@sluice/host';
import { consequence, letterLines, letterPage, time } from '../show/letter.js';
import { sessionNamed } from '../session-named.js';
import { readSince } from './since.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { withStores } from '../system/with-stores.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice dead-letters list [--topic agent.steps] [--code model_refused] [--session id] [--since 12h] [--json]
  What could not be processed, the oldest first. --since is how long ago (30m, 12h, 7d) or a date.
sluice dead-letters show ID [--json]
  What is known of one, and what a redrive would do. An ID is partition/offset, as list prints it. A unique beginning of a
  session’s id is enough.
sluice dead-letters redrive ID…   [--dry-run] [--json]
sluice dead-letters redrive --topic … --code … --session … --since … | --all   [--dry-run] [--json]
  Once its cause is fixed: puts the record on the log again, once, as a new attempt of its run under today's configuration. Exit
  code 1 if one that was asked for is refused. Filters select letters not yet re-driven; --all selects all of them. --dry-run
  says what would be done. --json prints a line for each; of a redrive {id, redriven, dry_run, reason}.`;

const options = {
  topic: { type: 'string' },
  code: { type: 'string' },
  session: { type: 'string' },
  since: { type: 'string' },
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

const filters = ['topic', 'code', 'session', 'since'] as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

interface Stores {
  readonly bus: Bus;
  readonly ledger: Ledger;
  /** Whether the configuration in force asks for credentials. */
  readonly identity: boolean;
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [action, ...ids] = positionals;
  const filter = readFilter(values);
  const takes = (...taken: readonly string[]): void =>
    refuseSurplus({ values, words: ids }, { taken, words: Infinity }, usage);
  switch (action) {
    case 'list':
      if (ids.length > 0) throw new Error(`"list" takes no id; "show" does.\n${usage}`);
      takes(...filters, 'json');
      return withLetters(surroundings, async (stores) =>
        list(await withWholeSession(filter, stores), values.json, stores, surroundings),
      );
    case 'show': {
      const [id, ...more] = ids;
      if (id === undefined || more.length > 0) throw new Error(`Name one dead letter.\n${usage}`);
      takes('json');
      letterPosition(id);
      return withLetters(surroundings, (stores) => show(id, values.json, stores, surroundings));
    }
    case 'redrive': {
      takes(...filters, 'all', 'dry-run', 'json');
      const filtered = Object.keys(filter).length > 0 || values.all;
      if (filtered === ids.length > 0)
        throw new Error(`Name the dead letters by their ids, or by a filter (--all for every one).\n${usage}`);
      ids.forEach(letterPosition);
      const dryRun = values['dry-run'];
      return withLetters(surroundings, async (stores) => {
        const letters = filtered
          ? notYet(readLetters(stores.bus, await withWholeSession(filter, stores)), stores)
          : byIds(ids, stores);
        return redriveEach(letters, dryRun, values.json, stores, surroundings);
      });
    }
    case undefined:
    default:
      throw new Error(`${sayWhat('dead letters', action)}\n${usage}`);
  }
}

/** With the whole id of the session. */
async function withWholeSession(filter: LetterFilter, { bus }: Stores): Promise<LetterFilter> {
  return filter.session === undefined ? filter : { ...filter, session: await sessionNamed(bus, filter.session) };
}

function readFilter({ topic, code, session, since }: Values): LetterFilter {
  if (topic !== undefined && !isTopic(topic))
    throw new Error(`There is no topic ${topic}; "sluice topics" lists them.`);
  if (code !== undefined && !Object.hasOwn(faultCodes, code))
    throw new Error(`There is no code ${code}. There are: ${Object.keys(faultCodes).join(', ')}.`);
  return {
    ...(topic === undefined ? {} : { topic }),
    ...(code === undefined ? {} : { code }),
    ...(session === undefined ? {} : { session }),
    ...(since === undefined ? {} : { since: readSince('--since', since, systemClock.now()) }),
  };
}

function withLetters(surroundings: CommandContext, work: (stores: Stores) => Promise<number>): Promise<number> {
  const { environment } = surroundings;
  return withStores(surroundings, async ({ bus, ledger }) => {
    await requireBelonging({ bus, ledger }, environment);
    return work({ bus, ledger, identity: await asksForCredentials(bus, verifierIfAny(environment)) });
  });
}

async function list(
  filter: LetterFilter,
  json: boolean,
  stores: Stores,
  surroundings: CommandContext,
): Promise<number> {
  const { write, print, taken, paint } = surroundings;
  let count = 0;
  for await (const letter of readLetters(stores.bus, filter)) {
    count++;
    const shown = { letter, redriven: await redriveOf(letter.id, stores.ledger) };
    if (json) print(`${JSON.stringify(letterJson(shown))}\n`);
    else write(letterLines(shown, paint));
    await taken();
  }
  const isNarrowed = Object.keys(filter).length > 0;
  if (count === 0 && !json) write(isNarrowed ? 'There is no such dead letter.\n' : 'There are no dead letters.\n');
  return 0;
}

async function show(
  id: string,
  json: boolean,
  stores: Stores,
  { write, print, paint }: CommandContext,
): Promise<number> {
  const letter = await found(id, stores);
  const shown = { letter, redriven: await redriveOf(id, stores.ledger) };
  if (json) print(`${JSON.stringify(letterJson(shown))}\n`);
  else write(letterPage(shown, await planFor(letter, stores), paint));
  return 0;
}

async function redriveEach(
  letters: AsyncIterable<Letter>,
  dryRun: boolean,
  json: boolean,
  stores: Stores,
  surroundings: CommandContext,
): Promise<number> {
  const { write, taken, paint } = quietFor(json, surroundings);
  const by = whoIsThis();
  let done = 0;
  let refused = 0;
  for await (const letter of letters) {
    const plan = await planFor(letter, stores);
    const why = await whyNot(letter, plan, dryRun, by, stores);
    if (why === null) done++;
    else refused++;
    const mark = why === null ? paint.good('✓') : paint.bad('✗');
    const said = why === null ? `${dryRun ? 'would go' : 'goes'} ${consequence(plan)}` : printable(why);
    if (json) printJson(surroundings, { id: letter.id, redriven: why === null, dry_run: dryRun, reason: why });
    write(`${mark} ${letter.id}: ${said}\n`);
    await taken();
  }
  write(`${done} ${dryRun ? 'would be re-driven' : 're-driven'}, ${refused} not.\n`);
  return refused === 0 ? 0 : 1;
}

/** Null if it was re-driven, or would be; else why it was not. */
async function whyNot(
  letter: Letter,
  plan: Plan,
  dryRun: boolean,
  by: string,
  { bus, ledger }: Stores,
): Promise<string | null> {
  const before = await redriveOf(letter.id, ledger);
  const was = before === null ? null : `It was re-driven by ${before.by}, ${time(before.at)}.`;
  if (plan.kind === 'refused') return was ?? plan.why;
  if (dryRun) return was;
  const came = await redrive(letter, plan, by, { bus, ledger, clock: systemClock });
  switch (came.kind) {
    case 'done':
      return null;
    case 'before':
      return `It was re-driven by ${came.by}, ${time(came.at)}${came.place === null ? '' : `, as ${came.place}`}.`;
    case 'busy':
      return `It is being re-driven by ${came.by} at this moment.`;
  }
}

async function planFor(letter: Letter, { ledger, identity }: Stores): Promise<Plan> {
  return planRedrive(letter, await redriveFacts(letter, identity, { ledger, clock: systemClock }));
}

async function* byIds(ids: readonly string[], stores: Stores): AsyncGenerator<Letter, void, undefined> {
  for (const id of ids) yield await found(id, stores);
}

/** A filter selects those not yet re-driven; by its id one can be named again, and the answer says who re-drove it. */
async function* notYet(letters: AsyncIterable<Letter>, { ledger }: Stores): AsyncGenerator<Letter, void, undefined> {
  for await (const letter of letters) if ((await redriveOf(letter.id, ledger)) === null) yield letter;
}

async function found(id: string, { bus }: Stores): Promise<Letter> {
  const letter = await letterAt(id, bus);
  if (letter === undefined)
    throw new Error(`There is no dead letter ${id}. "sluice dead-letters list" shows those there are.`);
  return letter;
}

/** In a container a user may have no name. */
function whoIsThis(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `unknown@${hostname()}`;
  }
}
