import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image', data: pixel, mimeType: 'image/png' };
const resource = { type: 'resource', resource: { uri: 'test://resource', mimeType: 'text/plain', text: 'Embedded.' } };

/**
 * What each tool that the scenarios call gives; the ones of a second kind change something, so that they need an
 * approval.
 */
const results: Readonly<Record<string, unknown>> = {
  test_simple_text: 'This is a simple text response for testing.',
  test_tool_with_progress: 'Done.',
  test_tool_with_logging: 'Done.',
  test_logging_tool: 'Done.',
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }],
  test_embedded_resource: [resource],
  test_multiple_content_types: [{ type: 'text', text: 'Several:' }, image, resource],
};
const changing: Readonly<Record<string, string>> = {
  test_elicitation: '{ message: z.string() }',
  test_streaming_elicitation: '{}',
};

/** Writes the tools that the conformance scenarios want as tools of one’s own; returns a configuration of them. */
export function conformanceConfiguration(home: string): string {
  const folder = join(home, 'tools');
  mkdirSync(folder, { recursive: true });
  const write = (name: string, parts: { input?: string; effect?: string; run: string }): string => {
    const { input = '{}', effect = 'read_only', run } = parts;
    writeFileSync(
      join(folder, `${name}.mjs`),
      `export default ({ defineTool, z }) => defineTool({
        type: '${name}', description: 'A tool of the conformance scenarios.', input: z.object(${input}), output: z.any(),
        effect: '${effect}', redaction: { whole: true }, capabilities: [], repeatable: true, requiresConnection: false,
        execute: async (given) => { ${run} },
      });\n`,
    );
    return name;
  };
  const names = [
    ...Object.entries(results).map(([name, result]) => write(name, { run: `return ${JSON.stringify(result)};` })),
    ...Object.entries(changing).map(([name, input]) =>
      write(name, { input, effect: 'state_change', run: `return 'Done.';` }),
    ),
    write('test_error_handling', { run: `throw new Error('This tool intentionally returns an error for testing');` }),
    write('greet', { input: '{ name: z.string() }', run: "return 'Hello, ' + given.name + '!';" }),
    write('slow_compute', {
      input: '{ seconds: z.number(), label: z.string().optional() }',
      run: `await new Promise((go) => setTimeout(go, given.seconds * 1_000)); return 'Done.';`,
    }),
    write('failing_job', { run: `await new Promise((go) => setTimeout(go, 1_000)); throw new Error('It fails.');` }),
    write('confirm_delete', { input: '{ filename: z.string() }', effect: 'state_change', run: `return 'Done.';` }),
    write('test_prompt_with_arguments', { input: `{ arg1: z.enum(['testing', 'other']) }`, run: `return 'Done.';` }),
  ];
  return `
tool_folders: ["${folder}"]
tool:
${names.map((name) => `  ${name}: { type: ${name}, group: [test] }`).join('\n')}
policy:
  allowed_tools: [${names.join(', ')}]
  approval: { approvers: ['*'] }
`;
}
