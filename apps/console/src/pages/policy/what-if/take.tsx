import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { download } from '../../../ui/download.js';
import { Command } from '../../../ui/json.js';
import { Card, Row } from '../../../ui/page.js';
import { Note } from '../../../ui/states.js';

const fileName = 'candidate.yaml';

interface Props {
  /** The file in force. */
  readonly source: string;
  readonly text: string;
  readonly isOk: boolean;
}

/** Takes the candidate along: as a file, with the command that puts it in force. */
export function TakeCandidate({ source, text, isOk }: Props) {
  const [wasSaved, setWasSaved] = useState(false);
  const save = (): void => {
    download(fileName, text, 'application/yaml');
    setWasSaved(true);
  };
  return (
    <Card title="Put it in force">
      <p>
        Nothing here changes what is in force. Save the file beside {source}, look at its changes once more, and apply
        it:
      </p>
      <Row>
        <Button onPress={save}>Save {fileName}</Button>
        {wasSaved && <span role="status">Saved.</span>}
      </Row>
      <Command text={`npx sluice config apply ${fileName}`} />
      {!isOk && <Note tone="warn">It has mistakes; the command would refuse it.</Note>}
    </Card>
  );
}
