import { DropZone, FileTrigger } from 'react-aria-components';
import type { DropZoneProps } from 'react-aria-components';
import css from './attach-files.module.css';
import { Button } from './button.js';
import { bytes } from './format.js';

type Dropped = Parameters<NonNullable<DropZoneProps['onDrop']>>[0];

/** As many as a question may have. */
const mostFiles = 20;

interface Props {
  readonly files: readonly File[];
  readonly onChange: (files: readonly File[]) => void;
}

/** Images and files that go with a question: chosen, dropped here or pasted. */
export function AttachFiles({ files, onChange }: Props) {
  const add = (more: readonly File[]): void => onChange([...files, ...more].slice(0, mostFiles));
  const drop = async ({ items }: Dropped): Promise<void> => {
    const dropped = items.flatMap((item) => (item.kind === 'file' ? [item.getFile()] : []));
    add(await Promise.all(dropped));
  };
  return (
    <DropZone
      className={css['zone'] ?? ''}
      aria-label="Drop images and files here"
      getDropOperation={() => 'copy'}
      onDrop={(event) => void drop(event)}
    >
      {files.length > 0 && (
        <ul className={css['files']} aria-label="Files of the question">
          {files.map((file, place) => (
            <li key={`${place} ${file.name}`}>
              <span className={css['name']}>{file.name}</span>
              <span className={css['size']}>{bytes(file.size)}</span>
              <Button
                isSmall
                tone="quiet"
                aria-label={`Leave out ${file.name}`}
                onPress={() => onChange(files.filter((one) => one !== file))}
              >
                Leave out
              </Button>
            </li>
          ))}
        </ul>
      )}
      <FileTrigger allowsMultiple onSelect={(chosen) => add([...(chosen ?? [])])}>
        <Button isSmall isDisabled={files.length >= mostFiles}>
          Attach images or files
        </Button>
      </FileTrigger>
      <span className={css['hint']}>or drop them here; {mostFiles} at most</span>
    </DropZone>
  );
}
