import { readers } from './observed.ts';
import type { Observed } from './observed.ts';

/** Whose transactions move the offset is noted for good. */
const writer = /=[\w-]{12}$/;

/** Nothing is stuck: every group has come to the end of what it reads, and says so. */
export function standstill({ committed, ends }: Pick<Observed, 'committed' | 'ends'>): readonly string[] {
  const said: string[] = [];
  for (const { group, topic } of readers) {
    for (const end of ends.filter((one) => one.topic === topic && one.offset > 0)) {
      const found = committed.find(
        (one) => one.group === group && one.topic === topic && one.partition === end.partition,
      );
      if ((found?.offset ?? 0) !== end.offset)
        said.push(`${group} is at ${found?.offset ?? 'no place'} of ${end.offset} in ${topic}-${end.partition}.`);
      const noted = found?.metadata.replace(writer, '') ?? '';
      if (noted !== '')
        said.push(`${group} has come to the end of ${topic}-${end.partition} and still notes “${noted}”.`);
    }
  }
  return said;
}
