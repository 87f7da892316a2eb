"""Plays edited sample streams in other players, and compares the frame numbers in the decoded pictures with the expected ones.

Usage: matrix.py MILLSTREAM SAMPLES [--players NAME,…] [--cases NAME,…] [--seconds N]

The picture of each sample has a strip at its top: 20 black or white cells with the frame number in 14 bits, the index of the
variant in 3 bits and a parity. Each player writes small grey pictures of all frames; the runs of consecutive frame numbers show
which media was played, and whether frames are missing at the transitions. `--seconds` is the duration for which the live channel is
played; 180 by default. The exit status is 1 if a player differs from the expectation.
"""

import argparse
import concurrent.futures
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

WIDTH, HEIGHT = 40, 24
# Players may omit single frames at a transition or at the end. When the size of the video changes, the output of VLC discards
# the pictures that it has not shown yet.
TOLERANCES = {"ffmpeg": 3, "mpv": 3, "gstreamer": 3, "vlc": 45}

parser = argparse.ArgumentParser()
parser.add_argument("millstream")
parser.add_argument("samples")
parser.add_argument("--players", default="ffmpeg,mpv,gstreamer,vlc")
parser.add_argument("--cases", default="")
parser.add_argument("--seconds", type=int, default=180)
arguments = parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


origin_port, by_hand_port, port = free_port(), free_port(), free_port()


def source(name):
    return f"http://127.0.0.1:{origin_port}/{name}/multivariant.m3u8"


def address(stream, *edits):
    items = [("url", source(stream)), ("max-height", "360"), ("segments", "proxy"), *edits]
    return f"http://127.0.0.1:{port}/play.m3u8?" + "&".join(
        f"{name}={urllib.parse.quote(value, safe='')}" for name, value in items)


def media(path):
    """The lines of a media playlist of the samples after its header, with absolute URLs, without its end."""
    folder = f"http://127.0.0.1:{origin_port}/{os.path.dirname(path)}/"
    lines = open(f"{arguments.samples}/{path}").read().splitlines()
    kept = [line for line in lines if line and not line.startswith((
        "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-PLAYLIST-TYPE",
        "#EXT-X-INDEPENDENT", "#EXT-X-ENDLIST"))]
    return [folder + line if not line.startswith("#") else line.replace('URI="', f'URI="{folder}') for line in kept]


def write_by_hand(folder, name, first, second):
    """Writes two presentations in a row without the editor, as RFC 8216bis describes it.

    Each is a pair of media playlists: of the video, and of the audio or None.
    """
    os.mkdir(f"{folder}/{name}")
    multivariant = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    variant = '#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360'
    for track, before, after in zip(("video", "audio"), first, second):
        if before is None:
            continue
        lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD", *media(before),
                 "#EXT-X-DISCONTINUITY", *media(after), "#EXT-X-ENDLIST"]
        with open(f"{folder}/{name}/{track}.m3u8", "w") as output:
            output.write("\n".join(lines) + "\n")
        if track == "audio":
            variant += ',AUDIO="audio"'
            multivariant.append(
                '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="audio.m3u8"')
    with open(f"{folder}/{name}/multivariant.m3u8", "w") as output:
        output.write("\n".join([*multivariant, variant, "video.m3u8"]) + "\n")


def by_hand(name):
    return f"http://127.0.0.1:{by_hand_port}/{name}/multivariant.m3u8"


DEMUXED = ("fmp4/360p/media.m3u8", "fmp4/audio-en/media.m3u8")
MUXED = ("byterange/360p/media.m3u8", "byterange/360p/media.m3u8")
FILM, ADVERTISEMENT = (0, 2159), (0, 599)
# The frames of a segment of the film, at whose boundaries breaks of a live channel begin and end.
SEGMENT = 180
# Name, URL, the runs of frame numbers that are expected, and the same stitch without the editor for players that cannot play it.
CASES = [
    ("limited by bandwidth", address("ts", ("bandwidth", "...1M")), [FILM]),
    ("preview of 30 s", address("ts", ("duration", "30")), [(0, 899)]),
    ("advertisement before", address("ts", ("prepend", source("ad"))), [ADVERTISEMENT, FILM]),
    ("advertisement in the middle", address("ts", ("insert", source("ad") + "@36")),
     [(0, 1079), ADVERTISEMENT, (1080, 2159)]),
    ("advertisement after", address("ts", ("append", source("ad"))), [FILM, ADVERTISEMENT]),
    ("fMP4 with fMP4, demuxed audio and subtitles", address("fmp4", ("append", source("fmp4"))), [(0, 1799), (0, 1799)],
     by_hand("demuxed")),
    ("fMP4 in one file each, byte ranges", address("byterange", ("append", source("byterange"))), [(0, 1799), (0, 1799)],
     by_hand("muxed")),
    ("demuxed fMP4 before muxed fMP4", address("fmp4", ("append", source("byterange"))), [(0, 1799), (0, 1799)],
     by_hand("mixed")),
    ("encrypted with clear", address("aes", ("insert", source("ad") + "@30")),
     [(0, 899), ADVERTISEMENT, (900, 1799)]),
    ("live channel, advertisement each minute", address("ts", ("duration", "60"), ("append", source("ad")), ("live", "loop")),
     "joined"),
    ("live channel, breaks replaced each minute", address("ts", ("live", "loop"), ("replace-breaks", source("ad") + "@every=60")),
     "breaks"),
]


def run(command, limit, output=None, user=None):
    """Runs a player; it is ended after a time limit in seconds, which is no failure for a live stream."""
    if user is not None and os.geteuid() == 0:
        command = ["runuser", "-u", user, "--"] + command
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def pictures(path):
    """The grey pictures in a file, in order."""
    size = WIDTH * HEIGHT
    with open(path, "rb") as file:
        data = file.read()
    return [data[start:start + size] for start in range(0, len(data) - size + 1, size)]


def ffmpeg(url, folder, limit, log):
    path = f"{folder}/frames"
    run(["ffmpeg", "-v", "error", "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough", "-t", str(limit),
         "-vf", f"scale={WIDTH}:{HEIGHT}:flags=area,format=gray", "-f", "rawvideo", "-y", path], limit + 30, log)
    return pictures(path)


def mpv(url, folder, limit, log):
    path = f"{folder}/frames"
    run(["mpv", "--no-config", "--no-audio", "--no-sub", f"--length={limit}", f"--vf=scale={WIDTH}:{HEIGHT},format=gray",
         "--ovc=rawvideo", "--of=rawvideo", f"--o={path}", url], limit + 30, log)
    return pictures(path)


def gstreamer(url, folder, limit, log):
    path = f"{folder}/frames"
    sink = (f"videoconvert ! videoscale add-borders=false ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},"
            f"pixel-aspect-ratio=1/1 ! filesink location={path} sync=false")
    run(["gst-launch-1.0", "-q", "playbin3", f"uri={url}", "audio-sink=fakesink sync=false", "text-sink=fakesink sync=false",
         f"video-sink={sink}"], limit, log)
    return pictures(path)


def vlc(url, folder, limit, log):
    written, kept = f"{folder}/written", f"{folder}/kept"
    os.mkdir(written)
    os.mkdir(kept)
    os.chmod(folder, 0o755)
    os.chmod(written, 0o777)
    has_ended = threading.Event()

    def keep():
        # The names of the pictures begin again when the size of the video changes.
        count = 0
        while True:
            is_last = has_ended.is_set()
            paths = [entry for entry in os.scandir(written) if entry.name.endswith(".png")]
            # The last one may not be complete.
            paths.sort(key=lambda entry: (entry.stat().st_mtime_ns, entry.name))
            for entry in paths if is_last else paths[:-1]:
                os.rename(entry.path, f"{kept}/{count:06}.png")
                count += 1
            if is_last:
                return
            time.sleep(0.02)

    keeper = threading.Thread(target=keep)
    keeper.start()
    run(["cvlc", "--no-audio", "--no-spu", "--adaptive-logic=highest", "--vout=vdummy", "--video-filter=scene", "--scene-ratio=1", "--scene-format=png",
         f"--scene-width={WIDTH}", f"--scene-height={HEIGHT}", f"--scene-path={written}", "--play-and-exit",
         f"--run-time={limit}", url, "vlc://quit"], limit + 30, log, user="nobody")
    has_ended.set()
    keeper.join()
    path = f"{folder}/frames"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", f"{kept}/%06d.png", "-vf", f"scale={WIDTH}:{HEIGHT},format=gray",
         "-fps_mode", "passthrough", "-f", "rawvideo", "-y", path], check=True)
    return pictures(path)


PLAYERS = {"ffmpeg": ffmpeg, "mpv": mpv, "gstreamer": gstreamer, "vlc": vlc}


def frame_number(picture):
    """The frame number in the strip of a picture; None if its parity is wrong."""
    row = picture[0:WIDTH]
    cells = [row[2 * cell] + row[2 * cell + 1] > 255 for cell in range(20)]
    if not cells[0] or cells[1] or sum(cells[2:19]) % 2 != cells[19]:
        return None
    return int("".join("1" if cell else "0" for cell in cells[2:16]), 2)


def runs(all_pictures):
    """The runs of increasing frame numbers in pictures, as (first, last, count)."""
    found = []
    for picture in all_pictures:
        number = frame_number(picture)
        if number is None:
            continue
        if found and found[-1][1] <= number <= found[-1][1] + 30:
            first, last, count = found[-1]
            found[-1] = (first, number, count + (number != last))
        else:
            found.append((number, number, 1))
    return found


def breaks_are_replaced(found, tolerance):
    """Whether runs begin and end with segments of the film, or are the whole advertisement, at least once."""
    def is_boundary(frame):
        return min(frame % SEGMENT, -frame % SEGMENT) <= tolerance

    def is_advertisement(first, last):
        return first <= tolerance and abs(last - ADVERTISEMENT[1]) <= tolerance

    inner = [(first, last) for first, last, _ in found[1:-1]]
    return any(is_advertisement(*run) for run in inner) and all(
        is_advertisement(first, last) or is_boundary(first) and is_boundary(last + 1) for first, last in inner)


def verdict(found, expected, tolerance):
    """None if the runs are as expected, otherwise what was played."""
    text = ", ".join(f"{first}–{last} ({count})" for first, last, count in found) or "nothing"
    if isinstance(expected, str):
        count = sum(count for _, _, count in found)
        isComplete = all(last - first + 1 - count <= tolerance for first, last, count in found)
        isLong = count >= (arguments.seconds - 45) * 30
        ends = [last for _, last, _ in found[:-1]]
        if expected == "joined":
            # The channel alternates between the film of 60 s and the advertisement.
            isRight = bool(ends) and all(
                abs(end - (1799 if abs(end - 1799) <= tolerance else 599)) <= tolerance for end in ends)
        else:
            isRight = breaks_are_replaced(found, tolerance)
        return None if isRight and isComplete and isLong else text
    isEqual = len(found) == len(expected) and all(
        abs(first - wanted[0]) <= tolerance and abs(last - wanted[1]) <= tolerance
        and last - first + 1 - count <= tolerance
        for (first, last, count), wanted in zip(found, expected))
    return None if isEqual else text


def result_of(player, case):
    """Whether a player plays a case, and whether it plays it as well as the same stitch that was written by hand."""
    name, url, expected, *stitches = case
    difference = play(player, url, expected)
    if difference is None:
        return "yes", True
    if stitches and play(player, stitches[0], expected) is not None:
        return f"no, nor the stitch by hand: {difference}", True
    return f"no: {difference}", False


def play(player, url, expected):
    folder = tempfile.mkdtemp(prefix=f"players-{player}-")
    limit = arguments.seconds if isinstance(expected, str) else 60 + sum(last - first + 1 for first, last in expected) // 30
    try:
        with open(f"{folder}/log", "wb") as log:
            try:
                found = runs(PLAYERS[player](url, folder, limit, log))
            except (OSError, subprocess.CalledProcessError) as error:
                return f"failed: {error}"
        return verdict(found, expected, TOLERANCES[player])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(number):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", number), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nothing listens on port {number}")


library = tempfile.mkdtemp(prefix="players-library-")
by_hand_folder = tempfile.mkdtemp(prefix="players-by-hand-")
write_by_hand(by_hand_folder, "demuxed", DEMUXED, DEMUXED)
write_by_hand(by_hand_folder, "muxed", (MUXED[0], None), MUXED)
write_by_hand(by_hand_folder, "mixed", DEMUXED, MUXED)
processes = [
    subprocess.Popen([arguments.millstream, "origin", by_hand_folder, "--port", str(by_hand_port)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    subprocess.Popen([arguments.millstream, "origin", arguments.samples, "--port", str(origin_port)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    subprocess.Popen([arguments.millstream, "serve", "--port", str(port), "--library", library,
                      "--allow-host", f"127.0.0.1:{origin_port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
]
failures = 0
try:
    for number in (origin_port, by_hand_port, port):
        wait_for(number)
    players = arguments.players.split(",")
    wanted = [case for case in CASES if not arguments.cases or any(part in case[0] for part in arguments.cases.split(","))]
    print("| case | " + " | ".join(players) + " |")
    print("|---" * (len(players) + 1) + "|")
    for case in wanted:
        # The players run side by side, because some of them play in real time.
        with concurrent.futures.ThreadPoolExecutor(len(players)) as pool:
            results = list(pool.map(lambda player: result_of(player, case), players))
        failures += sum(not is_right for _, is_right in results)
        print(f"| {case[0]} | " + " | ".join(text for text, _ in results) + " |", flush=True)
finally:
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait()
    shutil.rmtree(library, ignore_errors=True)
    shutil.rmtree(by_hand_folder, ignore_errors=True)
sys.exit(1 if failures else 0)
