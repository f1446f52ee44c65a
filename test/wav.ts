/**
 * A WAV file: 16-bit mono, 16 000 samples per second, a quiet 440 Hz tone.
 * @param seconds   length of the sound
 * @param claimed   what the header says instead of the true length, in seconds
 */
export function wavFile(seconds: number, claimed = seconds): Buffer {
  const rate = 16_000;
  const samples = new Int16Array(Math.round(seconds * rate));
  for (let i = 0; i < samples.length; i++) samples[i] = Math.round(2000 * Math.sin((2 * Math.PI * 440 * i) / rate));
  const header = Buffer.alloc(44);
  const claimedBytes = Math.round(claimed * rate) * 2;
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + claimedBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}
