import { writeFileSync } from 'node:fs';
import { cliPage } from './cli-page.js';

/** `npm run generate`, in the project: writes the page of commands. */
writeFileSync('docs/cli.md', await cliPage());
console.log('docs/cli.md');
