/**
 * The methods of each capability that a tool’s process asks the service for. What is not here cannot be called from
 * there.
 */
export const remoteMethods = {
  knowledge: ['find', 'query', 'change'],
  text: ['complete'],
  workspace: ['read', 'write', 'append', 'list', 'remove', 'search', 'kindOf', 'usage'],
  todos: ['current', 'next', 'archived', 'add', 'mark', 'archive'],
  toolsets: ['load', 'search'],
  auth: ['getAccessToken', 'getAuthHeaders', 'renew'],
  connections: ['fetch'],
  network: ['fetch'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RemoteCapability = keyof typeof remoteMethods;

export function isRemote(name: string): name is RemoteCapability {
  return Object.hasOwn(remoteMethods, name);
}
