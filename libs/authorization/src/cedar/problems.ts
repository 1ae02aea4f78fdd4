import { authorizationActions } from '@sluice/core';
import type { AuthorizationContext, CedarProblem } from '@sluice/core';
import type { DetailedError, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { declarationProblems, declaredContexts } from './declared.js';
import { cedarPackage, engine, isInstalled } from './engine.js';
import { delegationQuestion, permissionQuestion, principalTypes } from './question.js';
import type { Question } from './question.js';

/**
 * What is wrong with the texts: syntax, policies against the schema, and the schema against what Cedar will be asked.
 */
export function cedarProblems(policies: string, schema: string): readonly CedarProblem[] {
  if (!isInstalled()) return [notInstalled];
  const { checkParseSchema, checkParsePolicySet, validate, isAuthorized } = engine();
  const parsedSchema = checkParseSchema(schema);
  const parsedPolicies = checkParsePolicySet({ staticPolicies: policies });
  const unreadable = [
    ...(parsedSchema.type === 'failure' ? sentences('schema', schema, parsedSchema.errors) : []),
    ...(parsedPolicies.type === 'failure' ? sentences('policies', policies, parsedPolicies.errors) : []),
  ];
  if (unreadable.length > 0) return unreadable;

  const unserved = declarationProblems(declaredContexts(schema)).map((one): CedarProblem => ({ in: 'schema', ...one }));
  if (unserved.length > 0) return unserved;
  const validated = validate({ schema, policies: { staticPolicies: policies } });
  const unfit = validated.type === 'failure' ? validated.errors : validated.validationErrors.map(({ error }) => error);
  const refused = questions().flatMap((question) => {
    const answer = isAuthorized({ ...question, schema, validateRequest: true, policies: { staticPolicies: '' } });
    return answer.type === 'failure' ? answer.errors : [];
  });
  return [...sentences('policies', policies, unfit), ...unique(sentences('schema', '', refused))];
}

const notInstalled: CedarProblem = {
  in: 'policies',
  found: 'Cedar policies, and Cedar is not installed',
  write: `them once it is installed beside Sluice: \`npm i ${cedarPackage}\``,
};

/** One of each form that is ever asked. */
function questions(): readonly Question[] {
  const context: AuthorizationContext = { tenantId: 't', runId: 'r', effect: 'read_only' };
  const principals = Object.values(principalTypes).map((type): EntityJson => ({
    uid: { type, id: 'p' },
    attrs: {},
    parents: [{ type: 'Group', id: 'g' }],
  }));
  return authorizationActions.flatMap((action) => {
    const resource = { type: action === 'tool.execute' ? 'tool' : 'connection', id: 'x' } as const;
    return principals.flatMap((principal) => [
      permissionQuestion(principal, action, resource, context),
      ...principals.map((subject) => delegationQuestion(principal, subject, action, resource, context)),
    ]);
  });
}

function sentences(where: CedarProblem['in'], text: string, errors: readonly DetailedError[]): readonly CedarProblem[] {
  return errors.map(({ message, help, sourceLocations }) => {
    const start = sourceLocations?.[0]?.start;
    const line = start === undefined ? '' : ` (line ${lineOf(text, start)})`;
    return { in: where, found: `${message}${help === null ? '' : ` (${help})`}${text === '' ? '' : line}` };
  });
}

/** Cedar counts bytes of UTF-8. */
function lineOf(text: string, start: number): number {
  return Buffer.from(text).subarray(0, start).toString().split('\n').length;
}

function unique(problems: readonly CedarProblem[]): readonly CedarProblem[] {
  return [...new Map(problems.map((problem) => [problem.found, problem])).values()];
}
