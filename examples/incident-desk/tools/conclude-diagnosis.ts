import type { ToolKit } from 'sluice/tool';

/** Ends the diagnosis. It keeps nothing: the call and its result stand on the log, which a rollback is decided by. */
export default ({ defineTool, z, ToolUserError }: ToolKit) =>
  defineTool({
    type: 'conclude_diagnosis',
    description:
      'Conclude the diagnosis with a cause and at least two pieces of evidence. Example: { "service": "checkout", ' +
      '"cause": "Release 4.18.0", "evidence": ["Errors began at 09:43", "4.18.0 was released at 09:42"] }.',
    input: z.object({
      service: z.string().describe('The service that fails.'),
      cause: z.string().min(5).max(200).describe('What made it fail, in a sentence.'),
      evidence: z.array(z.string().min(5).max(200)).max(10).describe('What was seen that shows it.'),
    }),
    output: z.object({ service: z.string(), cause: z.string(), evidence: z.number() }),
    effect: 'read_only',
    redaction: { fields: ['service', 'cause', 'evidence'] },
    capabilities: [],
    repeatable: true,
    requiresConnection: false,
    execute: ({ service, cause, evidence }) => {
      if (new Set(evidence).size < 2)
        throw new ToolUserError(
          'One piece of evidence is not enough. Look at metrics, logs and releases, and give two.',
        );
      return Promise.resolve({ service, cause, evidence: evidence.length });
    },
  });
