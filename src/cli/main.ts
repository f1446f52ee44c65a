import { COMMANDS } from '../../cli/catalogue.ts';
import { runProcess } from '../../cli/main.ts';
import { SERVER_COMMANDS } from './server-commands.ts';

// All commands of bin/verbatim: those of the command line for users, and those that need the files of this project.

await runProcess([...COMMANDS, ...SERVER_COMMANDS]);
