import type { ToolKit } from 'sluice/tool';

/** From the worst: the least share of failed requests, in percent, that makes an incident of this severity. */
const severities = [
  { severity: 'SEV1', from: 10, update: 15 },
  { severity: 'SEV2', from: 2, update: 60 },
  { severity: 'SEV3', from: 0, update: 240 },
] as const;

/** Makes an incident of an alert: its severity by the desk's own table, not by the model's judgement. */
export default ({ defineTool, z }: ToolKit) =>
  defineTool({
    type: 'declare_incident',
    description:
      'Declare an incident for an alert, and learn its severity. ' +
      'Example: { "alert": "AL-2041", "service": "checkout", "error_rate": 18.4 }.',
    input: z.object({
      alert: z.string().regex(/^AL-\d+$/).describe('The alert that it is about.'), // prettier-ignore
      service: z.string().describe('The service that fails.'),
      error_rate: z.number().min(0).max(100).describe('The share of requests that fail now, in percent.'),
    }),
    output: z.object({
      incident: z.string(),
      service: z.string(),
      severity: z.enum(['SEV1', 'SEV2', 'SEV3']),
      minutes_between_updates: z.number(),
    }),
    effect: 'read_only',
    redaction: { fields: ['incident', 'service', 'severity', 'minutes_between_updates'] },
    capabilities: [],
    repeatable: true,
    requiresConnection: false,
    execute: ({ alert, service, error_rate }) => {
      const { severity, update } = severities.find(({ from }) => error_rate >= from) ?? severities[2];
      return Promise.resolve({
        incident: alert.replace('AL-', 'INC-'),
        service,
        severity,
        minutes_between_updates: update,
      });
    },
  });
