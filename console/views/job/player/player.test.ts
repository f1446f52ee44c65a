import assert from 'node:assert/strict';
import test from 'node:test';
import { type Media, Player } from './player.ts';

/** An audio element whose events, and frames whose time, the test chooses. */
function openPlayer({ hasAudio = true } = {}) {
  const listeners = new Map<string, (() => void)[]>();
  const emit = (type: string) => {
    for (const listener of listeners.get(type) ?? []) listener();
  };
  const media: Media & { paused: boolean } = {
    src: '',
    currentTime: 0,
    duration: 60,
    paused: true,
    playbackRate: 1,
    async play() {
      media.paused = false;
      emit('play');
    },
    pause() {
      media.paused = true;
      emit('pause');
    },
    load: () => (media.currentTime = 0),
    removeAttribute: () => (media.src = ''),
    addEventListener: (type, listener) => listeners.set(type, [...(listeners.get(type) ?? []), listener]),
  };
  const waiting: (() => void)[] = [];
  const player = new Player(media, 60, {
    request: (callback) => waiting.push(callback),
    cancel: () => waiting.splice(0),
  });
  const times: number[] = [];
  player.onTime((seconds) => times.push(seconds));
  if (hasAudio) {
    player.setSource('blob:a');
    emit('loadedmetadata');
  }
  return {
    media,
    player,
    times,
    emit,
    frames: () => waiting.length,
    /** The next frame, with the sound at this time. */
    frame(seconds: number) {
      media.currentTime = seconds;
      waiting.shift()?.();
    },
  };
}

test('while the audio plays each frame has its time; a pause ends the frames', async () => {
  const { player, times, frame, frames } = openPlayer();

  await player.play();
  frame(0.5);
  frame(0.6);
  player.pause();
  frame(0.6);

  assert.deepEqual(times, [0.5, 0.6]);
  assert.deepEqual([player.state.isPlaying, frames()], [false, 0]);
});

test('a seek stays within the audio, and is known without audio too', () => {
  for (const hasAudio of [true, false]) {
    const { player, times } = openPlayer({ hasAudio });

    player.seek(30);
    player.skip(10);
    player.skip(-100);
    player.seek(61);

    assert.deepEqual(times, [30, 40, 0, 60]);
  }
});

test('the speed has steps of 0.1 between 0.5 and 3', () => {
  const { player, media } = openPlayer();
  const rates = [];

  for (let i = 0; i < 3; i++) {
    player.changeRate(1);
    rates.push(player.state.rate);
  }
  player.setRate(9);
  rates.push(media.playbackRate);
  player.setRate(0.1);
  rates.push(media.playbackRate);

  assert.deepEqual(rates, [1.1, 1.2, 1.3, 3, 0.5]);
});

test('a loop goes back to its start, until the reader seeks out of it', async () => {
  const { player, media, frame } = openPlayer();

  player.setLoop({ start: 10, end: 12 });
  assert.equal(media.currentTime, 10);
  await player.play();
  frame(11.9);
  assert.equal(player.seconds, 11.9);
  frame(12.02);
  assert.deepEqual([media.currentTime, player.seconds], [10, 10]);
  player.seek(11);
  assert.deepEqual(player.state.loop, { start: 10, end: 12 });
  player.seek(20);
  frame(20.1);

  assert.deepEqual([player.state.loop, player.seconds], [null, 20.1]);
});

test('another source goes on at the same place and at the same speed', async () => {
  const { player, media, emit, frame } = openPlayer();
  await player.play();
  player.setRate(1.5);
  frame(42);

  player.setSource('/v1/audio-links/new');
  emit('timeupdate');
  assert.equal(player.seconds, 42);
  media.playbackRate = 1;
  emit('loadedmetadata');

  assert.deepEqual(
    [media.src, media.currentTime, media.playbackRate, media.paused],
    ['/v1/audio-links/new', 42, 1.5, false],
  );
});

test('audio that the browser cannot play is a problem; having none is not', () => {
  const { player, emit } = openPlayer();
  emit('error');
  assert.equal(player.state.problem, 'unplayable');
  player.setSource('blob:b');
  assert.equal(player.state.problem, null);
  player.setSource(null);
  emit('error');

  assert.deepEqual([player.state.problem, player.state.hasAudio], [null, false]);
});
