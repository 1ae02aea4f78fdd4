// The health check of a container: ends with 0 if the process in it is ready, else says what it waits for.
const port = process.env.SLUICE_PORT || '8090';
try {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  console.log(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.log(`No answer on port ${port} yet: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
