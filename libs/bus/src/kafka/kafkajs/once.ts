/**
 * What changes kafkajs for all clients of this process: done the first time that it is asked for, and no second time
 * on top of the first.
 */
export function once(mend: () => void): () => void {
  let isMended = false;
  return () => {
    if (isMended) return;
    isMended = true;
    mend();
  };
}
