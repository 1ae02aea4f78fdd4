// Ends the processes of tools when their service is gone, however that ended: one in an endless loop does not see
// that it is alone. It runs nothing of any tool, and imports nothing of this code base, so that Node can run it from
// its source as well.
import { createInterface } from 'node:readline';

const guarded = new Set<number>();

// Who stops the service may stop its group; this is still wanted until the service is gone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const pid = Number(line.slice(1));
    if (line.startsWith('+')) guarded.add(pid);
    else guarded.delete(pid);
  })
  .on('close', () => {
    for (const pid of guarded) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
    process.exit();
  });
