import type { ListedServer } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../data/client.js';
import { Note } from '../../ui/states.js';
import { Moment } from '../../ui/time.js';

/** The MCP servers that are away, and those of which changed tools are held back. */
export function ServerTroubles() {
  const { data } = useQuery({
    queryKey: ['servers'],
    queryFn: ({ signal }) => sluice.servers.list({ signal }),
    refetchInterval: 15_000,
  });
  return data?.servers.map((server) => <Server key={server.name} server={server} />);
}

function Server({ server: { name, state, executors, held_back: held } }: { readonly server: ListedServer }) {
  const away = executors.find(({ error }) => error !== null);
  const isAway = state === 'waiting' || state === 'closed';
  return (
    <>
      {isAway && (
        <Note tone="bad">
          <strong>
            The server <Link to="/servers">{name}</Link> is away
          </strong>
          {away !== undefined && (
            <>
              {' '}
              (<Moment at={away.since} />
              ): {away.error}
            </>
          )}
        </Note>
      )}
      {held.length > 0 && (
        <Note tone="warn">
          <strong>
            {held.length} {held.length === 1 ? 'tool' : 'tools'} of <Link to="/servers">{name}</Link> changed
          </strong>{' '}
          and {held.length === 1 ? 'is' : 'are'} held back until an operator accepts it.
        </Note>
      )}
    </>
  );
}
