import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import { openSqliteBus } from '@sluice/bus';
import type { SqliteBus } from '@sluice/bus';
import { entry, questionOf, request } from '../contract/harness.js';

/** A process beside the test: does one task on the log and writes a line for each thing that is done for good. */
const [task, file] = process.argv.slice(2) as [string, string];
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

function open(): Promise<SqliteBus> {
  const clock = { now: () => Date.now() };
  return openSqliteBus({ file, clock, instance: `child ${task}`, processId: process.pid, isAlive: () => true });
}

async function tryToOpen(): Promise<void> {
  // Root may write anywhere, whatever the file's mode says.
  if (process.getuid?.() === 0) process.setuid?.(65_534);
  try {
    await (await open()).close();
    say('opened');
  } catch (error) {
    say(error instanceof Fault ? `${error.code}: ${error.message}` : String(error));
  }
}

async function hold(): Promise<void> {
  const bus = await open();
  await bus.subscribe({ group: 'shared', topics: ['agent.requests'], handle: async () => [] });
  say('holding');
}

async function work(): Promise<void> {
  const bus = await open();
  await bus.subscribe({
    group: 'shared',
    topics: ['agent.requests'],
    handle: async (message, { afterCommit }) => {
      await delay(Math.random() * 20);
      afterCommit(() => say(questionOf(message)));
      return [entry(message, `child/${questionOf(message)}`)];
    },
  });
}

async function publish(): Promise<void> {
  const bus = await open();
  for (let index = 0; ; index++) {
    await bus.publish([request('child', String(index)), request('child', `${index} as well`)]);
    say(String(index));
  }
}

switch (task) {
  case 'open':
    await tryToOpen();
    break;
  case 'hold':
    await hold();
    break;
  case 'work':
    await work();
    break;
  case 'publish':
    await publish();
    break;
  default:
    throw new Error(`There is no task ${task}.`);
}
