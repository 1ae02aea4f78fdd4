import { parseArgs } from 'node:util';
import { requireBelonging } from '@sluice/host';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { withStores } from '../system/with-stores.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice ledger check [--json]
  Says whether the ledger belongs to the log. Services do not work with one that was emptied, or that belongs to another log.
sluice ledger adopt [--json]
  Makes the ledger belong to this log from now on, whatever it belonged to: after a move to another cluster, or where one of the
  two is lost for good. Stop the executors first: what was under way may be done twice. --json prints {status}: belongs, or adopted.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { environment, write } = surroundings;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [action, ...words] = positionals;
  if (action !== 'check' && action !== 'adopt') throw new Error(`${sayWhat('the ledger', action)}\n${usage}`);
  refuseSurplus({ values, words }, { taken: ['json'], words: 0 }, usage);
  return withStores(surroundings, async ({ bus, ledger }) => {
    if (action === 'adopt') await ledger.belonging.change((await bus.identity()).id);
    else await requireBelonging({ bus, ledger }, environment);
    if (values.json) printJson(surroundings, { status: action === 'adopt' ? 'adopted' : 'belongs' });
    else
      write(action === 'adopt' ? 'The ledger belongs to this log from now on.\n' : 'The ledger belongs to the log.\n');
    return 0;
  });
}
