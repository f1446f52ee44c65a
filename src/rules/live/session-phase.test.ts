import assert from 'node:assert/strict';
import test from 'node:test';
import { isOver, phaseAfter, SESSION_MOVES, type SessionPhase } from './session-phase.ts';

test('a session is over when it has ended, was left or was lost, and each other phase leads there', () => {
  const phases = [...new Set<SessionPhase>(SESSION_MOVES.flatMap(({ from, to }) => [from, to]))];
  const leadsOut = (phase: SessionPhase, seen: SessionPhase[] = []): boolean =>
    isOver(phase) ||
    SESSION_MOVES.some(({ from, to }) => from === phase && !seen.includes(to) && leadsOut(to, [...seen, to]));

  assert.deepEqual(phases.filter(isOver).sort(), ['ended', 'left', 'lost']);
  assert.deepEqual(
    phases.filter((phase) => !leadsOut(phase)),
    [],
  );
});

test('a move that is not in the table is refused', () => {
  assert.equal(phaseAfter('running', 'finish'), 'finishing');
  assert.throws(() => phaseAfter('ended', 'lose'), /a live session that is ended cannot lose/);
  assert.throws(() => phaseAfter('leaving', 'finish'), /leaving cannot finish/);
});
