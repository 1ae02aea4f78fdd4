import { isAnswerable, quote, sentenceList } from '@sluice/core';
import type { Finding, IdentitySettings, Policy } from '@sluice/core';

/** Entries of approvers’ lists that no one can be, and where they stand. */
export function findAboutApprovers(
  { approvers, approvalRules = [] }: Policy,
  identity: IdentitySettings,
): readonly Finding[] {
  const at = 'policy.approval';
  return [
    ...findIn(approvers, `${at}.approvers`, identity),
    ...approvalRules.flatMap(({ name, approvers: own = [], escalate }) => [
      ...findIn(own, `${at}.rules.${name}.approvers`, identity),
      ...findIn(escalate?.to ?? [], `${at}.rules.${name}.escalate.to`, identity),
    ]),
  ];
}

function findIn(entries: readonly string[], path: string, identity: IdentitySettings): readonly Finding[] {
  const unanswered = entries.filter((entry) => !isAnswerable(entry, identity.provider));
  const unmapped = entries.filter((entry) => isUnmapped(entry, identity));
  const many = (of: readonly string[]) => sentenceList(of.map(quote));
  const why =
    identity.provider === 'none'
      ? 'without an identity no one has groups, roles or claims. Configure `identity`, or name principals such as `user:ann`'
      : 'API keys have groups, and neither roles nor claims. Name groups or principals such as `service:desk`, or configure `identity` with `jwt`';
  return [
    ...(unanswered.length === 0 ? [] : [`No one can be an approver by ${many(unanswered)}: ${why}.`]),
    ...(unmapped.length === 0
      ? []
      : [
          `No role of identity.permissions.roles has ${many(unmapped)}, so an API key alone can be an approver by it. Give the group to a role, or name \`role:…\`.`,
        ]),
  ].map((message) => ({ kind: 'unanswered_approver', path, message }));
}

/** Whether the entry names a group that no role of the map gives, so that no token has it. */
function isUnmapped(entry: string, identity: IdentitySettings): boolean {
  if (identity.provider !== 'jwt' || identity.permissions?.roles === undefined) return false;
  const { roles } = identity.permissions;
  return entry.startsWith('group:') && !Object.values(roles).some((groups) => groups.includes(entry.slice(6)));
}
