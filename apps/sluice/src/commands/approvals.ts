import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { approvalsMissing, keyOfRule, printableIn, sentenceList } from '@sluice/core';
import type { AskingRule } from '@sluice/core';
import { recordToJson } from '@sluice/contracts';
import { ownToken } from '@sluice/host';
import { allOpen, withApprovals } from '../approvals/approval-log.js';
import type { ApprovalLog, LoggedApproval } from '../approvals/approval-log.js';
import { decideStanding, givenBy, listStanding } from '../approvals/standing.js';
import { decide } from '../approvals/decide.js';
import { editArguments } from '../approvals/edit-arguments.js';
import { showApproval } from '../approvals/show-approval.js';
import { byBeginning } from '../by-beginning.js';
import { shorten } from '../show/story.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice approvals list [--json]    calls that wait for an approval, the oldest first
sluice approvals show ID [--json] one that waits or was decided on: question, tool, arguments, the steps before, who may
                                  decide, and the outcome of the call; the beginning of its id is enough, here and below
sluice approvals approve ID… [--turn] [--arguments JSON | --edit] [--reason "…"] [--as user:NAME] [--json]
sluice approvals refuse ID… [--turn] [--reason "…"] [--as user:NAME] [--json]
  Decides, on one or on several, and says of each whether the decision was taken; exit code 1 if one was not. One that
  cannot count is not written. --as is who decides: your own name unless written. Where an identity is configured, the
  credential in SLUICE_TOKEN says who. --arguments is what the one call is made with in place of its own arguments, as a
  JSON object; --edit opens these in $VISUAL or $EDITOR. Secrets, which stand as [redacted], are kept unless written.
  --for user:NAME is the person for whom a service decides, where policy.approval.on_behalf lets it.
  --turn decides on all calls that wait in the turn of each that is named.
  --json prints a line for each approval, or of a decision {approval_id, status, reason}: taken, pending or refused.
sluice approvals standing list [--json]
sluice approvals standing give --tool KEY (--session ID | --user user:NAME) --until TIME [--bounds JSON] [--json]
  [--calls N] [--reason "…"] [--as user:NAME]
sluice approvals standing revoke ID [--reason "…"] [--as user:NAME] [--json]
  Calls of the tool run unasked within these bounds until then, 100 at most unless --calls says how many. --until is
  18:00, 2h, or a time such as 2026-12-01T18:00:00Z; --bounds has the form of the arguments of a rule.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      reason: { type: 'string' },
      as: { type: 'string' },
      for: { type: 'string' },
      arguments: { type: 'string' },
      edit: { type: 'boolean', default: false },
      turn: { type: 'boolean', default: false },
      tool: { type: 'string' },
      session: { type: 'string' },
      user: { type: 'string' },
      until: { type: 'string' },
      bounds: { type: 'string' },
      calls: { type: 'string' },
    },
  });
  const [action, ...words] = positionals;
  const [id, more] = words;
  const token = ownToken(surroundings.environment);
  const decidedBy = values.as ?? (token === undefined ? `user:${userInfo().username}` : '');
  const reason = values.reason ?? '';
  const takes = (count: number, ...taken: readonly string[]): void =>
    refuseSurplus({ values, words }, { taken, words: count }, usage);
  switch (action) {
    case 'list':
      takes(0, 'json');
      return withApprovals(surroundings, (log) => list(log, values.json, surroundings));
    case 'show': {
      takes(1, 'json');
      const named = idOf(id);
      return withApprovals(surroundings, (log) => showApproval(named, values.json, log, surroundings));
    }
    case 'approve':
    case 'refuse': {
      takes(Infinity, 'turn', 'reason', 'as', 'for', 'json', ...(action === 'approve' ? ['arguments', 'edit'] : []));
      const isEdit = values.edit || values.arguments !== undefined;
      if (values.edit && values.arguments !== undefined) throw new Error(`--arguments or --edit, not both.\n${usage}`);
      if (isEdit && (words.length > 1 || values.turn))
        throw new Error(`The arguments of one call at a time.\n${usage}`);
      const named = [...new Set(words.length === 0 ? [idOf(id)] : words.map(idOf))];
      const deciding = { decision: action, reason, decidedBy, decidedFor: values.for ?? null } as const;
      return withApprovals(surroundings, async (log) => {
        // All are found before one is decided on.
        const found: LoggedApproval[] = [];
        const open = await allOpen(log);
        for (const one of named) found.push(find(open, one));
        const waiting = values.turn ? open.filter((one) => found.some((other) => isOfTurn(one, other))) : found;
        let code = 0;
        for (const one of waiting) {
          const edited = values.edit ? editArguments(one.requested, surroundings) : (values.arguments ?? null);
          code = Math.max(code, await decide(one, { ...deciding, edited }, log, values.json, surroundings));
        }
        return code;
      });
    }
    case 'standing':
      if (id === 'list') {
        takes(1, 'json');
        return withApprovals(surroundings, (log) => listStanding(log, values.json, surroundings));
      }
      if (id === 'give') {
        takes(1, 'tool', 'session', 'user', 'until', 'bounds', 'calls', 'reason', 'as', 'json');
        const { tool, session, user, until, bounds, calls } = values;
        const given = givenBy({ tool, session, user, until, bounds, calls }, Date.now());
        const said = { action: 'give', decidedBy, reason, ...given };
        return withApprovals(surroundings, (log) => decideStanding(said, log, values.json, surroundings));
      }
      if (id === 'revoke') {
        takes(2, 'reason', 'as', 'json');
        const said = { action: 'revoke', decidedBy, reason, standingId: idOf(more) };
        return withApprovals(surroundings, (log) => decideStanding(said, log, values.json, surroundings));
      }
      throw new Error(`${sayWhat('standing approvals', id)}\n${usage}`);
    case undefined:
    default:
      throw new Error(`${sayWhat('approvals', action)}\n${usage}`);
  }
}

function idOf(id: string | undefined): string {
  if (id === undefined || id === '') throw new Error(`Name the approval.\n${usage}`);
  return id;
}

async function list(log: ApprovalLog, json: boolean, { write, print, paint }: CommandContext): Promise<number> {
  const open = await allOpen(log);
  if (json)
    for (const { requested } of open) print(`${JSON.stringify(recordToJson('ApprovalRequested', requested))}\n`);
  else if (open.length === 0) write('No call waits for an approval.\n');
  else
    for (const { requested } of open) {
      const { approvalId, tool, arguments: args, requestedBy, expiresAt, rules, others } = printableIn(requested);
      const given = rules.length === 0 ? [] : await log.claims.approvalsOf(requested.approvalId);
      const missing = approvalsMissing(rules, given);
      write(`${paint.strong(approvalId)}  ${paint.tool(tool)} ${shorten(args)}\n`);
      write(paint.dim(`   asked by ${requestedBy}, waits until ${time(expiresAt)}\n`));
      const turn = others.filter((id) => open.some((one) => one.requested.approvalId === id));
      if (turn.length > 0) write(paint.dim(`   in one turn with ${sentenceList(turn)}\n`));
      if (missing > 1 || given.length > 0)
        write(paint.dim(`   ${given.length} of ${given.length + missing} approvals: ${names(rules)}\n`));
    }
  return 0;
}

function find(open: readonly LoggedApproval[], id: string): LoggedApproval {
  const found = byBeginning(open, id, 'approval', ({ requested }) => requested.approvalId);
  if (found === undefined)
    throw new Error(`No call waits for the approval ${id}. "sluice approvals list" shows those that are open.`);
  return found;
}

function isOfTurn({ requested: one }: LoggedApproval, { requested: other }: LoggedApproval): boolean {
  return one.topic === other.topic && one.partition === other.partition && one.offset === other.offset;
}

function names(rules: readonly AskingRule[]): string {
  return sentenceList(rules.map(keyOfRule));
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
