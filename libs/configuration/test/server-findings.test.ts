import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, formatFindings, formatProblems } from '@sluice/configuration';
import type { CompilerInputs } from '@sluice/configuration';
import type { JsonObject, McpOffer } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const object = { type: 'object', properties: {} };
const offering = (outputSchema: JsonObject | null, more: object = {}): McpOffer => ({
  server: 'disk',
  tools: [{ name: 'read', description: 'Reads.', inputSchema: object, outputSchema }],
  ...more,
});

const file = (server: object = {}, redaction: unknown = 'whole', allowed: readonly string[] = ['read']) => ({
  tool: { read: { type: 'mcp-tool' } },
  mcp: {
    servers: { disk: { command: 'serve', ...server } },
    tools: { read: { server: 'disk', tool: 'read', effect: 'read_only', redaction } },
  },
  policy: { allowed_tools: allowed },
});
const compile = (raw: unknown, offer: McpOffer = offering(null), more: Partial<CompilerInputs> = {}) =>
  compileConfiguration(raw, { ...sampleInputs, offers: [offer], ...more });

describe('a variable that a server is to be given and that is not set', () => {
  const isSet = (variable: string): boolean => variable === 'GIVEN';

  it('is a finding that names it and its place', () => {
    const { findings, problems } = compile(file({ env: ['GIVEN', 'MISSING'] }), offering(null), { isSet });
    expect(problems).toEqual([]);
    expect(formatFindings(findings)).toBe(
      'unset_variable mcp.servers.disk.env[1]: The variable MISSING is not set here: where it is not set either, the executor starts the server "disk" without it.',
    );
  });

  it('is none where it is unknown, nor where the connection fills it in', () => {
    expect(compile(file({ env: ['MISSING'] })).findings).toEqual([]);
    const connections = { crm: { adapter: 'environment', tenants: ['*'], variable: 'CRM' } };
    const raw = { ...file({ env: ['TOKEN'], connection: 'crm', connection_env: 'TOKEN' }), connections };
    const { findings, problems } = compile(raw, offering(null), { isSet });
    expect(formatProblems(problems)).toBe('');
    expect(findings).toEqual([]);
  });
});

describe('a list of tools that did not come to its end', () => {
  it('is a finding, and the tools that were read are there', () => {
    const { configuration, findings } = compile(file(), offering(null, { endless: 'gives out the same cursor again' }));
    expect(configuration?.tools[0]?.spec).not.toBeNull();
    expect(formatFindings(findings)).toBe(
      'endless_list mcp.servers.disk: The server "disk" gives out the same cursor again: only the 1 tools that were read are known.',
    );
  });
});

describe('a redaction and the output schema that the server declares', () => {
  const output = (more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties: { content: { type: 'string' }, size: { type: 'integer' } },
    ...more,
  });

  it('withhold the tool where nothing of the result would be left', () => {
    const { configuration, findings } = compile(file({}, ['text', 'lines']), offering(output()));
    expect(configuration?.tools[0]?.spec).toBeNull();
    expect(formatFindings(findings)).toContain(
      'unavailable tool.read: read is not offered: mcp.tools.read.redaction has "text" and "lines", and the results of "read" have the fields "content" and "size": nothing of them would leave the tool. Write some of these fields, or `whole`.',
    );
    const closed = compile(file({}, ['text']), offering(output({ additionalProperties: false })));
    expect(closed.configuration?.tools[0]?.spec).toBeNull();
  });

  it.each([
    ['one of the fields is there', ['text', 'size'], output()],
    ['the whole result may leave', 'whole', output()],
    ['there is no schema', ['text'], null],
    ['other fields may come', ['text'], output({ additionalProperties: true })],
    ['other fields of a kind may come', ['text'], output({ additionalProperties: { type: 'string' } })],
    ['fields may come by a pattern', ['text'], output({ patternProperties: { '^t': {} } })],
    ['the schema has branches', ['text'], output({ anyOf: [{ properties: { text: {} } }] })],
    ['no field is declared', ['text'], { type: 'object' }],
  ])('is none where %s', (_, redaction, schema) => {
    expect(compile(file({}, redaction), offering(schema)).configuration?.tools[0]?.spec).not.toBeNull();
  });

  it('says nothing of a tool that the policy does not allow', () => {
    expect(compile(file({}, ['text'], []), offering(output())).configuration?.tools[0]?.spec).not.toBeNull();
  });
});
