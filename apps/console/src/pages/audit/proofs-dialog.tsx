import type { AttestQuery } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { sluice } from '../../data/client.js';
import { Button } from '../../ui/button.js';
import { download } from '../../ui/download.js';
import { Dialog } from '../../ui/dialog.js';
import { Command } from '../../ui/json.js';
import { Facts, Row } from '../../ui/page.js';
import { Note } from '../../ui/states.js';

interface Props {
  /** The span and the session that the page is filtered by. */
  readonly filters: AttestQuery;
  readonly onClose: () => void;
}

/** What others check without this installation: the records of a span, and a signed report on its tool calls. */
export function ProofsDialog({ filters, onClose }: Props) {
  const { since, until, session_id: session } = filters;
  const span: AttestQuery = {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(session === undefined ? {} : { session_id: session }),
  };
  const log = useMutation({
    mutationFn: async () => new Response(await sluice.audit.export(span)).blob(),
    onSuccess: (file) => download('log.sluice', file, 'application/zstd'),
  });
  const report = useMutation({
    mutationFn: () => sluice.audit.attest(span),
    onSuccess: (made) => download('attestation.json', `${JSON.stringify(made, null, 1)}\n`, 'application/json'),
  });
  const error = log.error ?? report.error;
  return (
    <Dialog title="Proofs for others" isOpen onClose={onClose} actions={<Button onPress={onClose}>Close</Button>}>
      <Facts
        facts={[
          { name: 'From', value: since === undefined ? 'the beginning of the log' : String(since) },
          { name: 'Until', value: until === undefined ? 'now' : String(until) },
          { name: 'Session', value: session ?? 'all' },
        ]}
      />
      {error !== null && <Note tone="bad">{error.message}</Note>}
      <p>
        <strong>The records</strong> of all topics, without credentials, with the configurations and schemas that they
        need. Others replay and verify them:
      </p>
      <Command text="npx sluice audit verify --export log.sluice" />
      <Row>
        <Button isDisabled={log.isPending} onPress={() => log.mutate()}>
          {log.isPending ? 'Exporting …' : 'Download the records'}
        </Button>
      </Row>
      <p>
        <strong>The attestation</strong> is a signed report on the tool calls, for readers who get no record at all:
      </p>
      <Command text="npx sluice attest verify attestation.json" />
      <Row>
        <Button isDisabled={report.isPending} onPress={() => report.mutate()}>
          {report.isPending ? 'Signing …' : 'Download the attestation'}
        </Button>
      </Row>
    </Dialog>
  );
}
