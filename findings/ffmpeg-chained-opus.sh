#!/usr/bin/env bash
# Two Ogg Opus files, one after the other: a chained stream, as RFC 3533 has it. ffmpeg decodes both, but takes the second
# header of the second stream for a packet of 0.96 s: the timestamps of the decoded audio leave that out at the join.
# Each file alone has none. (imageio-ffmpeg 0.6.0, which holds ffmpeg 7.0.2; the same with Debian's 5.1.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv packages
packages/bin/pip install -q --disable-pip-version-check imageio-ffmpeg==0.6.0
ffmpeg=$(packages/bin/python -c "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())")
"$ffmpeg" -version | head -n 1

"$ffmpeg" -v error -f lavfi -i 'sine=frequency=300:duration=3' -c:a libopus -ar 48000 one.ogg
cat one.ogg one.ogg >two.ogg
# The decoded frames, one a line: stream, time in samples of 48,000 a second, ..., length.
frames() { "$ffmpeg" -v quiet -i "$1" -map 0:a -ar 48000 -f framecrc - | grep -v '^#'; }
jumps() { frames "$1" | awk -F, 'NR > 1 && $2 - end > 480 { print $2 - end } { end = $2 + $4 }'; }
echo "samples left out in one file: [$(jumps one.ogg)], in the two joined: [$(jumps two.ogg)]"
[ -z "$(jumps one.ogg)" ] && [ "$(jumps two.ogg)" -gt 45000 ]
