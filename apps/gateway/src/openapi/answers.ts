import { runSchemas, runListSchemas, verdictSchemas, waitingSchemas } from './areas/runs/answers.js';
import { verificationSchemas, auditSchemas, letterSchemas } from './areas/audit/answers.js';
import { consoleSchemas } from './areas/console/answers.js';
import { subscriptionSchemas } from './areas/subscriptions/answers.js';
import { usageSchemas, statusSchemas, serverSchemas } from './areas/installation/answers.js';
import { toolSchemas } from './areas/tools/answers.js';
import { approvalSchemas } from './areas/approvals/answers.js';
import { configurationSchemas } from './areas/configurations/answers.js';
import { hookSchemas } from './areas/hooks/operations.js';
import { scheduleSchemas } from './areas/schedules/operations.js';
import { rejectionReasons } from '@sluice/core';
import { ref } from './record-schemas.js';
import { text, whole, list, described, object } from './schema-parts.js';
import type { JsonSchema } from './json-schema.js';

/** What the gateway answers with; a test holds real answers against these. */
export function answerSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...runSchemas(),
    ...verificationSchemas(),
    ...consoleSchemas(),
    ...runListSchemas(),
    ...verdictSchemas(),
    ...usageSchemas(),
    ...subscriptionSchemas(),
    ...statusSchemas(),
    ...serverSchemas(),
    ...waitingSchemas(),
    ...toolSchemas(),
    ...approvalSchemas(),
    ...auditSchemas(),
    ...letterSchemas(),
    ...configurationSchemas(),
    ...hookSchemas(),
    ...scheduleSchemas(),
    Problem: object(
      'Why the request got nothing (RFC 9457).',
      {
        type: text('Where the code is explained: a reference from the gateway’s address.'),
        title: text('What the code means.'),
        status: whole('The status of the answer.'),
        detail: text('A sentence that says what to change.'),
        code: text('A code for programs (docs/errors.md).'),
        error: described('ProblemError', 'Code and sentence once more.'),
      },
      {
        not_taken: {
          enum: Object.keys(rejectionReasons),
          description: 'Why a decision does not count, with the code `decision_not_taken`.',
        },
        problems: list(
          ref('CandidateProblem'),
          'What is wrong with a candidate, with the code `invalid_configuration`.',
        ),
      },
    ),
    ProblemError: object('A code for programs and a sentence for people.', {
      code: text('A code (docs/errors.md).'),
      message: text('A sentence that says what to change.'),
    }),
  };
}
