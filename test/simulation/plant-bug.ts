// Imported before a test file: adds the bug of planted-bugs.ts that PLANTED_BUG names.
import { changeModules } from './fakes/hooks.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

const bug = PLANTED_BUGS.find(({ name }) => name === process.env['PLANTED_BUG']);
if (!bug) throw new Error('PLANTED_BUG names no planted bug.');
changeModules(bug.changes);
