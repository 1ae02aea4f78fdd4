// A small pet store: the API that petstore.yaml describes. node examples/openapi/server.mjs [PORT]
import { createServer } from 'node:http';

const pets = new Map([
  [1, { id: 1, name: 'Rosie', tags: ['dog'] }],
  [2, { id: 2, name: 'Mitzi', tags: ['cat', 'old'] }],
  [3, { id: 3, name: 'Bubbles', tags: ['fish'] }],
]);
/** What a key of a request led to: a request that comes again adds nothing. */
const added = new Map();

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const answer = (status, value) => {
    response.writeHead(status, value === undefined ? {} : { 'content-type': 'application/json' });
    response.end(value === undefined ? undefined : JSON.stringify(value));
  };
  if (pathname === '/v1/pets' && request.method === 'GET') {
    const tags = searchParams.getAll('tag');
    const found = [...pets.values()].filter((pet) => tags.length === 0 || pet.tags.some((tag) => tags.includes(tag)));
    return answer(200, found.slice(0, Number(searchParams.get('limit') ?? 100)));
  }
  if (pathname === '/v1/pets' && request.method === 'POST') {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const key = request.headers['idempotency-key'];
    const before = key === undefined ? undefined : added.get(key);
    if (before !== undefined) return answer(201, before);
    const { name, tags = [] } = JSON.parse(Buffer.concat(chunks).toString());
    const pet = { id: Math.max(0, ...pets.keys()) + 1, name, tags };
    pets.set(pet.id, pet);
    if (key !== undefined) added.set(key, pet);
    return answer(201, pet);
  }
  const id = Number(/^\/v1\/pets\/(\d+)$/.exec(pathname)?.[1]);
  const pet = pets.get(id);
  if (pet === undefined) return answer(404, { message: 'There is no such pet.' });
  if (request.method === 'GET') return answer(200, pet);
  if (request.method !== 'DELETE') return answer(405, { message: `${request.method} is not for a pet.` });
  pets.delete(id);
  answer(204);
});

server.listen(Number(process.argv[2] ?? 4010), 'localhost', () => {
  console.log(`The pet store is at http://localhost:${server.address().port}/v1`);
});
