import { anchorOf, cell, code, plain } from './markdown.mjs';

/** Whom `x-sluice-who` of an operation admits. */
const rights = {
  anyone: 'Anyone, without a credential.',
  asker: 'A caller; where no identity is configured, also without a credential.',
  caller: 'A caller; where no identity is configured, with the local secret.',
  link: 'A caller, or the token of the run’s link where no identity is configured.',
  operator: 'An operator, whom `identity.operators` names; where no identity is configured, with the local secret.',
};

const nameOf = (ref) => ref.split('/').at(-1);
const linkTo = (name, base) => `[${name}](${base}schemas.md#${anchorOf(name)})`;
const json = (value) => ['```json', JSON.stringify(value, null, 2), '```', ''];
const table = (head, rows) => [
  `| ${head.join(' | ')} |`,
  `|${' --- |'.repeat(head.length)}`,
  ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  '',
];

/** What a schema takes, in a few words: `text`, `list of Step`, `one of "a", "b"`. */
export function typeOf(schema, link = (name) => name) {
  if (schema === undefined || schema === true) return 'anything';
  if (schema.$ref !== undefined) return link(nameOf(schema.$ref));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return [...new Set(several.map((one) => typeOf(one, link)))].join(' or ');
  if (schema.allOf !== undefined) return schema.allOf.map((one) => typeOf(one, link)).join(' and ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, link)).join(' or ');
  const limits = limitsOf(schema);
  if (schema.type === 'array') return `list of ${typeOf(schema.items, link)}${limits}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `map of ${typeOf(schema.additionalProperties, link)}${limits}`;
  return `${{ string: 'text', integer: 'whole number', boolean: '`true` or `false`' }[schema.type] ?? schema.type ?? 'anything'}${limits}`;
}

function limitsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format, default: usual }) {
  const span = (least, most, unit) => {
    if (least === undefined && most === undefined) return [];
    if (least === undefined) return [`at most ${most}${unit}`];
    return [most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`];
  };
  const said = [
    ...span(minimum, maximum, ''),
    ...span(minLength, maxLength, ' characters'),
    ...span(minItems, maxItems, ' items'),
    ...(format === undefined ? [] : [format]),
    ...(pattern === undefined ? [] : [`as ${code(pattern)}`]),
    ...(usual === undefined ? [] : [`${code(JSON.stringify(usual))} if left out`]),
  ];
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}

/** The pages of the HTTP API: one for each tag of its description, one of all schemas, and an index. */
export function apiPages(description) {
  const areas = description.tags.map(({ name }) => ({
    name,
    file: anchorOf(name),
    operations: operationsOf(description, name),
  }));
  return [
    { path: 'reference/api/index.md', title: 'HTTP API', text: indexPage(description, areas) },
    ...areas.map(({ name, file, operations }) => ({
      path: `reference/api/${file}.md`,
      title: name,
      text: areaPage(name, operations),
    })),
    { path: 'reference/api/schemas.md', title: 'Schemas', text: schemasPage(description.components.schemas) },
  ];
}

function operationsOf({ paths, security }, tag) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, security, ...operation })),
  );
}

function indexPage({ components }, areas) {
  const rows = areas.flatMap(({ file, operations }) =>
    operations.map(({ method, path, summary }) => [
      code(`${method} ${path}`),
      `[${summary}](${file}.md#${anchorOf(summary)})`,
    ]),
  );
  return [
    '# HTTP API',
    '',
    'Every operation of the gateway, with its parameters, bodies, answers and rights. This page is generated from [openapi.json](/openapi.json), which a running gateway serves at `/openapi.json`. [In words](../../http.md) says how to ask, wait and follow.',
    '',
    '```sh',
    'curl http://127.0.0.1:8091/v1/runs -H \'content-type: application/json\' -H \'prefer: wait=30\' -d \'{"question":"What is the capital of Japan?","group":["read-only"]}\'',
    '```',
    '',
    '## Operations',
    '',
    ...table(['operation', 'what it does'], rows),
    '## Credentials',
    '',
    ...Object.entries(components.securitySchemes).map(
      ([name, { description }]) => `- **${name}**: ${plain(description)}`,
    ),
    '',
  ].join('\n');
}

function areaPage(name, operations) {
  return [
    `# HTTP API: ${name}`,
    '',
    `${operations.map(({ summary }) => summary).join('; ')}. The [index](index.md) has all areas; [schemas](schemas.md) says what each body holds.`,
    '',
    ...operations.flatMap(operationText),
  ].join('\n');
}

function operationText(operation) {
  const { method, path, summary, description, parameters = [], requestBody, responses, operationId } = operation;
  const client = operation['x-sluice-client']?.method;
  return [
    `## ${summary}`,
    '',
    ...['```http', `${method} ${path}`, '```', ''],
    ...(description === undefined ? [] : [plain(description), '']),
    `**Rights**: ${rights[operation['x-sluice-who']] ?? ''}`,
    '',
    ...(client === undefined ? [] : [`**In the clients**: \`${client}\``, '']),
    ...parametersText(parameters),
    ...bodyText(requestBody),
    `**Answers** of \`${operationId}\``,
    '',
    ...table(
      ['status', 'meaning', 'body'],
      Object.entries(responses).map(([status, { description: meaning, content = {} }]) => [
        status,
        plain(meaning),
        Object.entries(content)
          .map(([type, { schema }]) => `${typeOf(schema, (one) => linkTo(one, ''))} (\`${type}\`)`)
          .join('; '),
      ]),
    ),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content)
        .filter(([, { example }]) => example !== undefined)
        .flatMap(([type, { example }]) => exampleText(status, type, example)),
    ),
  ];
}

const exampleText = (status, type, example) => [
  `::: details Example of ${status}`,
  ...(/json/.test(type) ? json(example) : ['```text', String(example).trimEnd(), '```', '']),
  ':::',
  '',
];

function parametersText(parameters) {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: where, required, description, schema, example }) => [
    `\`${name}\``,
    `${where}${required === true ? ', required' : ''}`,
    typeOf(schema),
    `${plain(description)}${example === undefined ? '' : ` Such as ${code(example)}.`}`,
  ]);
  return ['**Parameters**', '', ...table(['name', 'in', 'type', 'meaning'], rows)];
}

function bodyText(body) {
  if (body === undefined) return [];
  return Object.entries(body.content).flatMap(([type, { schema, example }]) => [
    `**Body**${body.required ? '' : ', which may be left out'}: ${typeOf(schema, (one) => linkTo(one, ''))} (\`${type}\`)`,
    '',
    ...(example === undefined ? [] : json(example)),
  ]);
}

function schemasPage(schemas) {
  const link = (name) => `[${name}](#${anchorOf(name)})`;
  return [
    '# HTTP API: schemas',
    '',
    'What bodies and answers hold, field by field. The [index](index.md) has the operations.',
    '',
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      `## ${name}`,
      '',
      ...(schema.description === undefined ? [] : [plain(schema.description), '']),
      ...fieldsText(schema, link),
    ]),
  ].join('\n');
}

function fieldsText(schema, link) {
  const { properties, required = [] } = schema;
  if (properties === undefined) return [plain(typeOf(schema, link)), ''];
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    plain(typeOf(field, link)),
    required.includes(name) ? 'yes' : '',
    plain(field.description),
  ]);
  return table(['field', 'type', 'always there', 'meaning'], rows);
}
