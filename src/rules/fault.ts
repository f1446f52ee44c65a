/** Whose fault a failure can be. */
export type Fault = 'audio' | 'engine' | 'storage' | 'database' | 'network';

/**
 * What a speech engine did instead of giving a transcript.
 * `model`: there is no model yet. `start`: it cannot be started, or its model cannot be loaded. `away`: a probe shows
 * that it does not work. `died`: its processes ended while they had the piece.
 * `timeout`: no answer in time. `connection`: refused, reset, or not possible. `status`: an answer of a speech server.
 * `words`: it gave none for speech. `piece`: an error for this piece, or an answer that is no transcript.
 * `request`: it cannot do what was asked for.
 */
export type EngineFailure =
  | { kind: 'model' | 'start' | 'away' | 'died' | 'timeout' | 'connection' | 'words' | 'piece' | 'request' }
  | { kind: 'status'; status: number };

// With these a speech server refuses what it was sent; with every other one it tells about itself.
const REFUSES_AUDIO = [400, 413, 415, 422];

/**
 * Whose fault an engine's failure looks like. Where it matters, only a probe with other audio shows it: a server may
 * answer 500 because of one piece, and 400 because of its own settings.
 */
function faultOfEngine(failure: EngineFailure): 'audio' | 'engine' {
  if (failure.kind === 'status') return REFUSES_AUDIO.includes(failure.status) ? 'audio' : 'engine';
  return failure.kind === 'piece' || failure.kind === 'request' ? 'audio' : 'engine';
}

/** What errors tell about themselves beside their message. */
type Telling = { fault?: Fault; failure?: EngineFailure; code?: unknown };

// SQLSTATE: five characters, of which system errors of Node, such as EPIPE, have no digit.
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
const OF_STORAGE = /^(EIO|EROFS|ENOSPC|EDQUOT|ESTALE|ENODEV|ENXIO)$/;
const OF_NETWORK =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_\w+|EADDRNOTAVAIL|CERT_\w+|ERR_TLS_\w+|UND_ERR_(CONNECT|SOCKET|HEADERS|BODY)\w*)$/;

/**
 * Whose fault an error is, by what it tells about itself: `fault`, the `failure` of an engine, or the `code` of a
 * system call or of PostgreSQL. Null for an error that tells nothing, which is a bug of the service.
 */
export function faultOf(error: unknown): Fault | null {
  const { fault, failure, code } = (error ?? {}) as Telling;
  if (fault !== undefined) return fault;
  if (failure !== undefined) return faultOfEngine(failure);
  if (typeof code !== 'string') return null;
  if (OF_STORAGE.test(code)) return 'storage';
  if (OF_NETWORK.test(code)) return 'network';
  return SQLSTATE.test(code) ? 'database' : null;
}
