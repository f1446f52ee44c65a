// The parts of undici that the deliverer needs. All of it, with the client of fetch, takes 40 ms of processor time to
// load, and 3 MB.

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export default errors;
}
