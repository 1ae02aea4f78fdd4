import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { DescribedTool, GroupTool } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { useSignedIn } from '../../session/session-provider.js';
import { EffectTag } from '../../ui/effect.js';
import { Facts, Row } from '../../ui/page.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';

interface Fact {
  readonly name: ReactNode;
  readonly value: ReactNode;
}

/** What is known of a tool; for operators also what the configuration says of it. */
export function ToolFacts({ tool }: { readonly tool: GroupTool }) {
  const { me } = useSignedIn();
  const view = useQuery({ ...configurationQuery(), enabled: me.is_operator });
  const described = view.data?.tools.find(({ key }) => key === tool.key);
  const states = tool.available_in_states.filter((name) => name !== '*');
  const facts: readonly Fact[] = [
    { name: 'Name for models', value: <code>{tool.id}</code> },
    { name: <Term name="effect" />, value: <EffectTag effect={tool.effect} /> },
    {
      name: <Term name="group">Groups</Term>,
      value: (
        <Row>
          {tool.groups.map((name) => (
            <Link key={name} to="/tools" search={{ group: name }}>
              <Tag tone="accent">{name}</Tag>
            </Link>
          ))}
        </Row>
      ),
    },
    {
      name: <Term name="state">Available in</Term>,
      value: states.length === 0 ? 'every state' : <Tags names={states} />,
    },
    { name: 'Leads to', value: tool.state === null ? 'no other state' : <Tag>{tool.state}</Tag> },
    ...(tool.depends_on === undefined ? [] : [{ name: 'Its rules ask for', value: <Tags names={tool.depends_on} /> }]),
    ...(described === undefined ? [] : configured(described)),
  ];
  return <Facts facts={facts} />;
}

const sources = {
  built_in: 'built in',
  file: 'a tool file',
  mcp: 'an MCP server',
  openapi: 'an API',
  agent: 'an agent',
} as const;

function configured(tool: DescribedTool): readonly Fact[] {
  const { source, source_name: name, connection, needs_approval: needsApproval, unavailable, rules } = tool;
  return [
    { name: 'Source', value: name === null ? sources[source] : `${sources[source]}: ${name}` },
    ...(connection === null ? [] : [{ name: 'Connection', value: connection }]),
    { name: 'A call', value: needsApproval ? <Tag tone="warn">waits for an approval</Tag> : 'needs no approval' },
    ...(rules.length === 0 ? [] : [{ name: 'Rules', value: <Tags names={rules} /> }]),
    ...(unavailable === null ? [] : [{ name: 'Not available', value: unavailable }]),
  ];
}

function Tags({ names }: { readonly names: readonly string[] }) {
  return (
    <Row>
      {names.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
    </Row>
  );
}
