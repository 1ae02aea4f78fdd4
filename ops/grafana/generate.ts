import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { files } from './src/dashboards.ts';

/** `npm run generate`: writes the dashboards that ops/grafana/src describes, and removes those it no longer does. */
const folder = join(import.meta.dirname, 'dashboards');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of files) writeFileSync(join(folder, name), text);
console.log(`${files.size} dashboards in ops/grafana/dashboards`);
