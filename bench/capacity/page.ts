import { standardPlans } from './plans.js';
import { sizeOf } from './sizing.js';
import { checkTable, countTable, cpuTable, sizeTable } from './tables.js';
import type { CostsFile } from './tables.js';

/** The page with the tables behind its marks, `<!-- capacity: … -->`, as the costs have them. */
export function withCapacityTables(page: string, file: CostsFile): string {
  const { embedded, kafka } = file;
  const sizes = standardPlans.map((plan) => [plan, sizeOf(kafka.costs, plan)] as const);
  const tables: Readonly<Record<string, string>> = {
    'time embedded': cpuTable(embedded),
    'counts embedded': countTable(embedded),
    'checked embedded': checkTable(embedded),
    'time on Kafka': cpuTable(kafka),
    'counts on Kafka': countTable(kafka),
    'checked on Kafka': checkTable(kafka),
    sizes: sizeTable(kafka.costs, sizes),
  };
  return page.replace(/(<!-- capacity: ([\w ]+) -->\n\n)(?:\|.*\n)*/g, (_, mark: string, name: string) => {
    const table = tables[name];
    if (table === undefined)
      throw new Error(`There is no table “${name}”; there are: ${Object.keys(tables).join(', ')}.`);
    return `${mark}${table}\n`;
  });
}
