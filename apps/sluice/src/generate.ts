import { readFileSync, writeFileSync } from 'node:fs';
import { asyncApi } from './async-api.js';
import { cliPage } from './cli-page.js';
import { configurationSchema } from './configuration-schema.js';
import { pagesWithTables, withTopicTables } from './topic-tables.js';
import { schemaFile } from './commands/init.js';
import { openApi } from '../../gateway/src/openapi/document.js';
import { compileEvaluator, documentedTools, wildcard } from '@sluice/core';
import { builtInConfiguration } from './system/built-in-tools.js';
import { writePages } from './system/write-pages.js';

/**
 * `npm run generate`, in the project: writes the page of commands, the schema of the configuration, and the
 * descriptions of the gateway and of the topics.
 */
writeFileSync('docs/cli.md', await cliPage());
console.log('docs/cli.md');

for (const page of pagesWithTables) {
  writeFileSync(page, withTopicTables(page, readFileSync(page, 'utf8')));
  console.log(page);
}

await writePages(
  'docs/tools',
  documentedTools(compileEvaluator(builtInConfiguration()), { groups: [wildcard], toolIds: null, depth: 0 }),
);
console.log('docs/tools');

const schema = configurationSchema(readFileSync('docs/configuration.md', 'utf8'));
writeFileSync(schemaFile, `${JSON.stringify(schema, null, 2)}\n`);
console.log(schemaFile);

const descriptionFile = 'schemas/openapi.json';
writeFileSync(descriptionFile, `${JSON.stringify(openApi(), null, 2)}\n`);
console.log(descriptionFile);

const topicsFile = 'schemas/asyncapi.json';
writeFileSync(topicsFile, `${JSON.stringify(asyncApi(), null, 2)}\n`);
console.log(topicsFile);
