import { createLog, readEnvironment } from '@sluice/host';
import * as approvals from '../../apps/sluice/src/commands/approvals.js';
import * as attest from '../../apps/sluice/src/commands/attest.js';
import * as audit from '../../apps/sluice/src/commands/audit.js';
import * as cancel from '../../apps/sluice/src/commands/cancel.js';
import * as call from '../../apps/sluice/src/commands/call.js';
import * as check from '../../apps/sluice/src/commands/check.js';
import * as config from '../../apps/sluice/src/commands/config.js';
import * as deadLetters from '../../apps/sluice/src/commands/dead-letters.js';
import * as exporting from '../../apps/sluice/src/commands/export.js';
import * as init from '../../apps/sluice/src/commands/init.js';
import * as keys from '../../apps/sluice/src/commands/keys.js';
import * as mcp from '../../apps/sluice/src/commands/mcp.js';
import * as openapi from '../../apps/sluice/src/commands/openapi.js';
import * as replaying from '../../apps/sluice/src/commands/replay.js';
import * as runs from '../../apps/sluice/src/commands/runs.js';
import * as tail from '../../apps/sluice/src/commands/tail.js';
import * as token from '../../apps/sluice/src/commands/token.js';
import * as topics from '../../apps/sluice/src/commands/topics.js';
import { projectRoot } from './configurations.js';
import { paintFor } from '../../apps/sluice/src/show/paint.js';

const commands = {
  approvals,
  call,
  cancel,
  check,
  init,
  runs,
  audit,
  attest,
  config,
  'dead-letters': deadLetters,
  export: exporting,
  keys,
  mcp,
  openapi,
  replay: replaying,
  tail,
  token,
  topics,
};

export interface Ended {
  readonly code: number;
  readonly output: string;
  /** The sentence of the error that it ended with. */
  readonly errors: string;
}

/** Runs a command in this process, as the program would. */
export async function command(
  [name = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  let output = '';
  let notes = '';
  const surroundings = {
    environment: readEnvironment(variables),
    log: createLog('warn', process.stderr),
    paint: paintFor(process.stdout),
    write: (text: string) => void (output += text),
    print: (text: string | Uint8Array) => void (output += text.toString()),
    note: (text: string) => void (notes += text),
    taken: () => Promise.resolve(),
    terminal: false,
    root: projectRoot,
    inProject: (file: string) => file,
    stopped: new Promise<string>(() => undefined),
    sampleConfiguration: () => Promise.reject(new Error('There is no sample here.')),
    input: process.stdin,
    allCommands: () => Promise.resolve([]),
  };
  try {
    return { code: await commands[name as keyof typeof commands].run(args, surroundings), output, errors: '' };
  } catch (error) {
    return { code: 1, output, errors: (error as Error).message };
  }
}
