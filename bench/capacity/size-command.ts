import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withCapacityTables } from './page.js';
import { standardPlan } from './plans.js';
import { sizeOf } from './sizing.js';
import type { Plan } from './sizing.js';
import { sizeTable } from './tables.js';
import type { CostsFile } from './tables.js';

const committed = join(import.meta.dirname, '../bench/capacity/costs.json');
const pages = ['capacity', 'benchmarks'].map((name) => join(import.meta.dirname, `../docs/${name}.md`));
const measured = join(import.meta.dirname, 'capacity.json');

/**
 * `npm run bench -- size 500`: how large an installation has to be for so many runs a second, one column for each
 * number, by what `npm run bench -- capacity` counted here, else by what docs/capacity.md has. Throws a sentence for
 * what it does not understand. `--page` writes the tables of docs/ instead.
 */
export function sizeCommand(args: readonly string[]): void {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      costs: { type: 'string' },
      mix: { type: 'string' },
      model: { type: 'string' },
      tool: { type: 'string' },
      days: { type: 'string' },
      copies: { type: 'string' },
      share: { type: 'string' },
      cores: { type: 'string' },
      disk: { type: 'string' },
      page: { type: 'boolean', default: false },
    },
  });
  const file = values.costs ?? (existsSync(measured) ? measured : committed);
  const costs = JSON.parse(readFileSync(file, 'utf8')) as CostsFile;
  if (values.page) {
    for (const page of pages) writeFileSync(page, withCapacityTables(readFileSync(page, 'utf8'), costs));
    return;
  }
  const { kafka, machine, measuredOn } = costs;
  const plan: Plan = {
    ...standardPlan,
    mix: values.mix === undefined ? standardPlan.mix : mixIn(values.mix),
    modelSeconds: number('--model', values.model, standardPlan.modelSeconds),
    toolSeconds: number('--tool', values.tool, standardPlan.toolSeconds),
    keptDays: number('--days', values.days, standardPlan.keptDays),
    replication: number('--copies', values.copies, standardPlan.replication),
    coreShare: number('--share', values.share, standardPlan.coreShare),
    databaseCores: number('--cores', values.cores, standardPlan.databaseCores),
    databaseBytes: 1e9 * number('--disk', values.disk, standardPlan.databaseBytes / 1e9),
    brokerCores: number('--cores', values.cores, standardPlan.brokerCores),
  };
  const rates = positionals.length === 0 ? ['100', '1000', '10000'] : positionals;
  const plans = rates.map((rate) => ({ ...plan, perSecond: number('The runs a second', rate, 0) }));
  console.log(`By costs of ${machine}, counted ${measuredOn}:\n`);
  console.log(
    sizeTable(
      kafka.costs,
      plans.map((one) => [one, sizeOf(kafka.costs, one)] as const),
    ),
  );
}

/** As `log read 0.7, http call 0.3`. */
function mixIn(text: string): Plan['mix'] {
  const parts = text.split(',').map((part) => {
    const words = part.trim().split(/\s+/);
    return [words.slice(0, -1).join(' '), number('A share of --mix', words.at(-1), 0)] as const;
  });
  const total = parts.reduce((sum, [, share]) => sum + share, 0);
  return Object.fromEntries(parts.map(([name, share]) => [name, share / total]));
}

function number(what: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${what} is “${text}”; it must be a number above 0.`);
  return value;
}
