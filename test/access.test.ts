import 'reflect-metadata';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PATTERN_METADATA } from '@nestjs/microservices/constants';
import { access, topics } from '@sluice/contracts';
import { AuditController } from '../apps/audit/src/audit.controller.js';
import { AgentController } from '../apps/agent/src/agent.controller.js';
import { ExecutorController } from '../apps/executor/src/executor.controller.js';
import { FilterController } from '../apps/filter/src/filter.controller.js';

const root = join(import.meta.dirname, '..');
const services = {
  filter: FilterController,
  agent: AgentController,
  executor: ExecutorController,
  audit: AuditController,
};

function subscribed(controller: { readonly prototype: object }): readonly string[] {
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const method = (controller.prototype as Record<string, object>)[name];
    return method === undefined ? [] : ((Reflect.getMetadata(PATTERN_METADATA, method) as string[] | undefined) ?? []);
  });
}

/** The topics that an app's sources publish to. */
function published(app: string): readonly string[] {
  const sources = globSync(`apps/${app}/src/*.ts`, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  return sources.flatMap((text) =>
    [...text.matchAll(/topic: topics\.(\w+)/g)].map((match) => topics[match[1] as keyof typeof topics]),
  );
}

describe('what each service may do with the topics', () => {
  it.each(Object.entries(services))(
    '%s reads what its controller subscribes to, and the configuration',
    (name, controller) => {
      const { reads, group } = access[name as keyof typeof services];
      // The audit finds its place again in what it wrote. The filter watches for runs that are overdue, the executor
      // for those that are cancelled while they wait, without their groups.
      const own =
        {
          audit: [topics.audit],
          filter: [topics.toolsets, topics.calls, topics.responses],
          executor: [topics.cancellations],
        }[name] ?? [];
      expect([...reads].sort()).toEqual([...new Set([...subscribed(controller), topics.config, ...own])].sort());
      expect(group).toBe(name);
    },
  );

  it.each(Object.keys(services))('%s writes no topic that is not named', (name) => {
    const written = published(name);
    expect(written.length).toBeGreaterThan(0);
    for (const topic of written) expect(access[name as keyof typeof services].writes).toContain(topic);
  });
});
