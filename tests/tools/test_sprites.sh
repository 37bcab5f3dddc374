#!/bin/sh
# Usage: test_sprites.sh SPRITES SOURCE-FOLDER SCRIPTED-PLUGIN-FOLDER
# Every order is right for any size, plugin and number of threads; the same arguments give the same
# pixels everywhere; files are valid PNG; --check finds what a plugin sorts wrongly; and one clear
# line for each error.
set -eu
sprites=$1 source=$2 scripted=$3
unset DISPLAY WAYLAND_DISPLAY
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
checks=0
failures=0

check() { # TEXT COMMAND...
  text=$1
  shift
  checks=$((checks + 1))
  "$@" || { failures=$((failures + 1)); echo "not so: $text"; }
}
differ() { ! cmp -s "$1" "$2"; }

# Decodes a PNG file: prints width, height and the SHA-256 of its pixels, or fails.
cat > decode.py <<'END'
import hashlib, struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x89PNG\r\n\x1a\n'
at, packed, last = 8, b'', b''
while at < len(data):
    size, last = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(last + body)
    if last == b'IHDR':
        width, height, *form = struct.unpack('>IIBBBBB', body)
    if last == b'IDAT':
        packed += body
    at += 12 + size
assert last == b'IEND' and form == [8, 2, 0, 0, 0], (last, form)
lines, stride, above, pixels = zlib.decompress(packed), 3 * width, bytes(3 * width), b''
assert len(lines) == (stride + 1) * height
for y in range(height):
    kind, *line = lines[y * (stride + 1):(y + 1) * (stride + 1)]
    for i in range(stride):
        a, b, c = (line[i - 3], above[i], above[i - 3]) if i > 2 else (0, above[i], 0)
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[kind] & 255
    above = bytes(line)
    pixels += above
print(width, height, hashlib.sha256(pixels).hexdigest())
END
decoded() { python3 -B decode.py "$1"; }

# every order, with ties: 4 of 8 entities stand on one spot
checked() { # ENTITIES FRAMES OPTION...
  entities=$1 frames=$2
  shift 2
  status=0
  "$sprites" --check --entities "$entities" --count "$frames" --size 96x60 "$@" > out 2> log || status=$?
  check "$entities entities, $*: exit 0" test $status = 0
  check "$entities entities, $*: nothing to say" test ! -s log
  check "$entities entities: so many frames" grep -q "^$frames frames of $entities entities, [0-9.]* a second; " out
  check "percentiles" grep -qE '^sort, ms: 50% [0-9.]+, 90% [0-9.]+, 99% [0-9.]+, max [0-9.]+$' out
  ties=$(sed -n 's/^every order is right; \([0-9]*\) neighbours tie$/\1/p' out)
  check "$entities entities: $ties ties" test "${ties:-0}" -ge $((entities / 8 * 3 * frames))
}
for options in '' '--plugin cpu' '--threads 1' '--plugin cpu --threads 2'; do
  # Unquoted: several words, or none.
  checked 1 20 $options
  checked 2 20 $options
  checked 2000 20 $options
  checked 100000 3 $options
done
# a plugin that sorts well, leaves the records as they are, or reverses ties
export RECSORT_PLUGIN_PATH="$scripted"
checked 2000 5 --plugin scripted
for fault in unsorted ties; do
  status=0
  RECSORT_TEST_SCRIPT=sort-$fault "$sprites" --plugin scripted --check > out 2> log || status=$?
  check "$fault: exit 1" test $status = 1
  check "$fault: says so" grep -qE '^sprites: frame 1: place [0-9]+ has the wrong entity$' log
  check "$fault: one line" test "$(wc -l < log)" = 1
  check "$fault: no figures" test ! -s out
done
RECSORT_TEST_SCRIPT=sort-ties "$sprites" --plugin scripted --count 2 > out
check 'without --check nobody looks' grep -q 'plugin scripted$' out
status=0
RECSORT_TEST_SCRIPT=sort-failed "$sprites" --plugin scripted > out 2> log || status=$?
check 'a sort that fails: exit 2' test $status = 2
check 'a sort that fails: one line' test "$(wc -l < log)" = 1
unset RECSORT_PLUGIN_PATH
checked 2000 5 --seed 18446744073709551615
checked 9 5 --size 1x1
check 'the plugin is named' grep -q 'plugin cpu$' out
check 'without --check it is as fast as it can' test "$("$sprites" --count 2 | wc -l)" = 2

if "$sprites" --count 1 --strip it.png > out 2> log; then
  small='--entities 500 --count 9 --size 60x40'
  mkdir a b c
  "$sprites" $small --frames a --strip a.png --plot plot.png > out
  "$sprites" $small --frames b --strip b.png --plugin cpu --threads 2 > out
  "$sprites" $small --frames c --strip c.png --seed 2 > out
  check 'nine frames' test "$(ls a | tr '\n' ' ')" = "$(printf 'frame-%04d.png ' 1 2 3 4 5 6 7 8 9)"
  for frame in 1 5 9; do
    check "frame $frame: the same bytes" cmp a/frame-000$frame.png b/frame-000$frame.png
    check "frame $frame: another seed, others" differ a/frame-000$frame.png c/frame-000$frame.png
    check "frame $frame: valid" decoded a/frame-000$frame.png > out
    check "frame $frame: its size" grep -q '^60 40 ' out
  done
  check 'frames differ' differ a/frame-0001.png a/frame-0009.png
  check 'strip: the same bytes' cmp a.png b.png
  check 'plot: valid' decoded plot.png > out
  check 'plot: its size' grep -q '^188 40 ' out
  # three panels with gaps, and these pixels on every machine
  check 'strip: the same everywhere' test "$(decoded a.png)" = \
    '188 40 1b16c41cc3d506c72b4245823c900aaebba8383229f725d464dd1c0a33067c4c'
  for count in 1 2 3; do
    "$sprites" $small --count $count --strip few.png > out
    check "$count frames, $count panels" test "$(decoded few.png | cut -d' ' -f1)" = $((64 * count - 4))
  done
  # the picture is what the command in docs/library.md writes
  command=$(sed -n 's|^sprites \(.*\) --strip docs/sprites.png.*|\1|p' "$source/docs/library.md")
  check 'the page has the command' test -n "$command"
  "$sprites" $command --strip shown.png > out
  check 'the picture of the README' test "$(decoded shown.png)" = "$(decoded "$source/docs/sprites.png")"
  check 'it is small' test "$(wc -c < "$source/docs/sprites.png")" -le 61440
  "$sprites" --count 1 --size 60x40 --entities 500 --strip few.png > out
  check 'the strip holds the frame' cmp few.png a/frame-0001.png
else
  check 'a build without libpng says so' grep -q '^sprites: built without libpng' log
fi

refused() { # TEXT ARGUMENT...
  wanted=$1
  shift
  status=0
  "$sprites" --count 2 "$@" > out 2> log || status=$?
  check "$*: exit 2" test $status = 2
  check "$*: prints nothing" test ! -s out
  check "$*: says $wanted" grep -q "^sprites: .*$wanted" log
  check "$*: one line" test "$(grep -vc "^Run 'sprites --help'" log)" = 1
}
if "$sprites" --count 1 --frames . > out 2> log; then
  refused 'no/such/frame-0001.png: No such file' --frames no/such
  refused 'no/such.png: No such file' --strip no/such.png
  refused 'no/such.png: No such file' --plot no/such.png
  refused 'frame-0001.png: Not a directory' --frames decode.py
  mkdir locked
  chmod 555 locked
  if ! touch locked/it 2> /dev/null; then refused 'Permission denied' --frames locked; fi
  if [ -c /dev/full ]; then refused 'No space left' --strip /dev/full; fi
fi
for size in 0x5 5x0 -5x5 5 5x x5 5x5x 5x5.5 10000x5 axb ''; do
  refused "bad --size '$size': WxH" --size "$size"
done
for entities in 0 -1 1.5 10000001 99999999999999999999 many ''; do
  refused "--entities: '$entities' is not a number from 1 to 10000000" --entities "$entities"
done
refused "--count: '0' is not a number from 1" --count 0
refused "--seed: '-1' is not a number" --seed -1
refused "--threads: 'two' is not a number" --threads two
refused 'no plugin "odd"' --plugin odd
refused "unknown option '--bogus'" --bogus
refused "option '--size' needs a value" --size
refused "unexpected argument 'x'" x

# a window: on no display, by SDL's dummy driver, if SDL was there; libdbus, which SDL calls, leaks
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
if SDL_VIDEODRIVER=dummy "$sprites" --window --count 3 > out 2> log; then
  check 'a window: three frames' grep -q '^3 frames of 2000 entities' out
  DISPLAY=:0 SDL_VIDEODRIVER=dummy "$sprites" --count 3 > out
  check 'a display: at most 30 a second' test "$(sed -n 's/.*entities, \([0-9]*\).*/\1/p' out)" -le 31
  if [ -d a ]; then # with libpng; SDL takes a signal for a closed window
    mkdir shown
    SDL_VIDEODRIVER=dummy "$sprites" --window --size 20x20 --frames shown > out 2> log &
    while kill -0 $! && [ ! -e shown/frame-0003.png ]; do sleep 0.1; done
    kill -TERM $!
    status=0
    wait $! || status=$?
    check 'a closed window ends the game well' test $status = 0
    check 'and the figures come' grep -qE '^[0-9]{1,4} frames of 2000 entities' out
  fi
  SDL_VIDEODRIVER=none refused 'no window: ' --window
  SDL_VIDEODRIVER=none DISPLAY=:0 refused 'no window: '
  SDL_VIDEODRIVER=none DISPLAY=:0 checked 10 3
else
  check 'a build without SDL says so' grep -q '^sprites: built without SDL' log
fi

"$sprites" --help | grep -oE -- '--[a-z]+' | sort -u > said
sed 's/\\-/-/g' "$source/tools/sprites/sprites.1" | sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' | grep -oE -- '--[a-z]+' | sort -u > written
check 'the manual page has the options of --help' cmp said written
check 'help fits' test "$("$sprites" --help | wc -l)" -le 24
check 'help is narrow' test "$("$sprites" --help | awk '{ if (length > n) n = length } END { print n }')" -le 80
check 'version' test "$("$sprites" --version | cut -d' ' -f1)" = sprites

echo "$checks checks, $failures failures"
test $failures = 0
