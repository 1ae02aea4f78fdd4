import { Sluice } from '@sluice/client';
import { session } from '../session/session.js';

/** The gateway that served this page, asked by the person who is signed in. */
export const sluice = new Sluice({
  url: window.location.origin,
  token: () => session.token(),
  // A page says at once that the gateway is away, and asks again by itself (queries.ts).
  retries: 1,
});
