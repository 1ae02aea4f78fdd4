import { byResource, classOf, clientCalls, writtenResources } from './calls.ts';
import type { ClientCall } from './calls.ts';
import { note } from './description.ts';
import type { Description } from './description.ts';

/** The methods of the TypeScript client that only ask and read the answer. */
export function typeScriptCalls(description: Description): string {
  const calls = clientCalls(description);
  const resources = byResource(calls);
  const types = calls.flatMap(({ query, body, answer, page }) =>
    [query ?? [], body ?? [], answer, page?.item ?? []].flat(),
  );
  const classes = [...resources].map(([resource, those]) => {
    const begin = `export class ${classOf(resource)} {\n  constructor(protected readonly transport: Transport) {}\n`;
    return `${begin}\n${those.map(methodOf).join('\n')}}\n`;
  });
  const whole = [...resources.keys()].filter((resource) => !writtenResources.includes(resource));
  return `// ${note}

import { Pages } from '../pages.js';
import type { CallOptions, Transport } from '../transport.js';
import type { ${[...new Set(types)].sort().join(', ')} } from './api.js';

${classes.join('\n')}
/** The resources that nothing is written for by hand. */
export class Resources {
${whole.map((resource) => `  readonly ${resource}: ${classOf(resource)};\n`).join('')}
  constructor(transport: Transport) {
${whole.map((resource) => `    this.${resource} = new ${classOf(resource)}(transport);\n`).join('')}  }
}
`;
}

function methodOf(call: ClientCall): string {
  const { method, doc, verb, places, required, query, taken, isFormatted, body, answer, page, isRepeatable } = call;
  const rest =
    taken.length === 0 ? (query ?? '') : `Omit<${query ?? ''}, ${taken.map((name) => `'${name}'`).join(' | ')}>`;
  const parameters = [
    ...[...places, ...required].map((name) => `${camel(name)}: string`),
    ...(body === null ? [] : [`body: ${body}`]),
    ...(query === null ? [] : [`query: ${rest} = {}`]),
    'options: CallOptions = {}',
  ];
  const asked = [
    ...(query === null ? [] : ['...query']),
    ...required.map((name) => (camel(name) === name ? name : `${name}: ${camel(name)}`)),
    ...(isFormatted ? ["format: 'json'"] : []),
    ...(page === null ? [] : [page.by]),
  ];
  const sent = [
    ...(verb === 'GET' ? [] : [`method: '${verb}'`]),
    `path: ${pathOf(call)}`,
    ...(asked.length === 0
      ? []
      : [
          `query: ${asked.join() === '...query' ? 'query' : `{ ${asked.join(', ')} }`}`.replace(
            'query: query',
            'query',
          ),
        ]),
    ...(body === null ? [] : ['body']),
    `isRepeatable: ${isRepeatable}`,
    '...options',
  ];
  const begin = `  /** ${doc} */\n  ${method}(${parameters.join(', ')})`;
  const ask = `this.transport.json<${answer}>({ ${sent.join(', ')} })`;
  if (page === null) return `${begin}: Promise<${answer}> {\n    return ${ask};\n  }\n`;
  const { items, item, next, by } = page;
  return `${begin}: Pages<${item}> {
    return new Pages(async (${by}) => {
      const { ${items === 'items' ? items : `${items}: items`}, ${next}: next } = await ${ask};
      return { items, next };
    });
  }
`;
}

function pathOf({ path, places }: ClientCall): string {
  if (places.length === 0) return `'${path}'`;
  return `\`${path.replace(/\{(\w+)\}/g, (_, name: string) => `\${encodeURIComponent(${camel(name)})}`)}\``;
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
