"""Plays edited sample streams in other players, and compares the frame numbers in the decoded pictures with the expected ones.

Usage: matrix.py MILLSTREAM SAMPLES [--players NAME,…] [--cases NAME,…] [--seconds N]

Each player shows the frame numbers of its pictures (frames.py); the runs of consecutive frame numbers show which media was played,
and whether frames are missing at the transitions. `--seconds` is the duration for which the live channel is played; 180 by default.
The exit status is 1 if a player differs from the expectation.
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
import time
import urllib.parse

import players
from frames import runs
from pageserver import PageServer

parser = argparse.ArgumentParser()
parser.add_argument("millstream")
parser.add_argument("samples")
parser.add_argument("--players", default="millstream,chromium,ffmpeg,mpv,gstreamer,vlc")
parser.add_argument("--cases", default="")
parser.add_argument("--seconds", type=int, default=180)
arguments = parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


origin_port, by_hand_port, port = free_port(), free_port(), free_port()
page_server = PageServer(f"http://127.0.0.1:{origin_port}/dash-timeline/", port)


def source(name):
    return f"http://127.0.0.1:{origin_port}/{name}/multivariant.m3u8"


def manifest(name):
    return f"http://127.0.0.1:{origin_port}/{name}/manifest.mpd"


def served(url, *edits):
    """The URL under which the server has a source with edits; Chromium gets it from the origin of its page."""
    items = [("url", url), ("max-height", "360"), ("segments", "proxy"), *edits]
    return f"http://127.0.0.1:{port}/play.m3u8?" + "&".join(
        f"{name}={urllib.parse.quote(value, safe='')}" for name, value in items)


def address(stream, *edits):
    return served(source(stream), *edits)


def media(path):
    """The lines of a media playlist of the samples after its header, with absolute URLs, without its end."""
    folder = f"http://127.0.0.1:{origin_port}/{os.path.dirname(path)}/"
    lines = open(f"{arguments.samples}/{path}").read().splitlines()
    kept = [line for line in lines if line and not line.startswith((
        "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-PLAYLIST-TYPE",
        "#EXT-X-INDEPENDENT", "#EXT-X-ENDLIST"))]
    return [folder + line if not line.startswith("#") else line.replace('URI="', f'URI="{folder}') for line in kept]


def write_by_hand(folder, name, first, second, sample=None):
    """Writes two presentations in a row without the editor, as RFC 8216bis describes it.

    Each is a pair of media playlists: of the video, and of the audio or None. With a sample, its other audio and its subtitles follow
    themselves, too.
    """
    os.mkdir(f"{folder}/{name}")
    multivariant = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    variant = '#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360'

    def write(track, before, after):
        lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD", *media(before),
                 "#EXT-X-DISCONTINUITY", *media(after), "#EXT-X-ENDLIST"]
        with open(f"{folder}/{name}/{track}.m3u8", "w") as output:
            output.write("\n".join(lines) + "\n")

    for track, before, after in zip(("video", "audio"), first, second):
        if before is None:
            continue
        write(track, before, after)
        if track == "audio":
            variant += ',AUDIO="audio"'
            multivariant.append(
                '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="audio.m3u8"')
    for kind, track in (("AUDIO", "audio-ko"), ("SUBTITLES", "subtitles-en"), ("SUBTITLES", "subtitles-ko")) if sample else ():
        write(track, f"{sample}/{track}/media.m3u8", f"{sample}/{track}/media.m3u8")
        language = track.split("-")[1]
        multivariant.append(
            f'#EXT-X-MEDIA:TYPE={kind},GROUP-ID="{kind.lower()}",NAME="{language}",LANGUAGE="{language}",DEFAULT=NO,AUTOSELECT=YES,'
            f'URI="{track}.m3u8"')
    if sample:
        variant += ',SUBTITLES="subtitles"'
    with open(f"{folder}/{name}/multivariant.m3u8", "w") as output:
        output.write("\n".join([*multivariant, variant, "video.m3u8"]) + "\n")


def by_hand(name):
    return f"http://127.0.0.1:{by_hand_port}/{name}/multivariant.m3u8"


def write_dash_by_hand(folder, name, *parts):
    """Writes a media playlist of the video of DASH samples, each a range of segments, without the translation."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:4"]
    for number, (sample, segments) in enumerate(parts):
        base = f"http://127.0.0.1:{origin_port}/{sample}/"
        lines += (["#EXT-X-DISCONTINUITY"] if number else []) + [f'#EXT-X-MAP:URI="{base}init-0.mp4"']
        for index in segments:
            lines += ["#EXTINF:4,", f"{base}chunk-0-{index + 1 if sample == 'dash-number' else 61440 * index}.m4s"]
    with open(f"{folder}/{name}.m3u8", "w") as output:
        output.write("\n".join([*lines, "#EXT-X-ENDLIST"]) + "\n")


def dash_by_hand(name):
    return f"http://127.0.0.1:{by_hand_port}/{name}.m3u8"


def write_periods(folder):
    """Writes a manifest of two periods: the first half of one sample, and all of another one with other tracks."""
    def period(identifier, sample, duration, media, timeline, audio):
        template = '<SegmentTemplate {} initialization="init-$RepresentationID$.mp4" media="{}">{}</SegmentTemplate>'
        video_template = template.format(timeline[0], media, timeline[1])
        audio_template = template.format(audio[0], media, audio[1])
        return f"""<Period id="{identifier}" duration="PT{duration}S">
<BaseURL>http://127.0.0.1:{origin_port}/{sample}/</BaseURL>
<AdaptationSet contentType="video" mimeType="video/mp4" frameRate="30">{video_template}
<Representation id="0" codecs="avc1.64001e" bandwidth="292408" width="640" height="360"/></AdaptationSet>
<AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">{audio_template}
<Representation id="2" codecs="mp4a.40.2" bandwidth="87733"/></AdaptationSet></Period>"""

    numbered = ('timescale="1" duration="4"', "")
    video = ('timescale="15360"', '<SegmentTimeline><S t="0" d="61440" r="9"/></SegmentTimeline>')
    audio = ('timescale="48000"',
             '<SegmentTimeline>' + '<S d="192512"/><S d="191488"/>' * 5 + "</SegmentTimeline>")
    with open(f"{folder}/periods.mpd", "w") as output:
        output.write(f"""<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" minBufferTime="PT4S">
{period("a", "dash-number", 20, "chunk-$RepresentationID$-$Number$.m4s", numbered, numbered)}
{period("b", "dash-timeline", 40, "chunk-$RepresentationID$-$Time$.m4s", video, audio)}</MPD>
""")


def translated(name):
    return f"http://127.0.0.1:{by_hand_port}/translated-{name}/multivariant.m3u8"


DASH = (0, 1199)


def live_manifest(player):
    # Each player begins with the first request for a manifest of its own.
    return served(f"{page_server.address}/live/{player}.mpd")


def live_by_hand(player):
    return f"{page_server.address}/live/{player}-{time.monotonic_ns()}.m3u8"


def followed_manifest(player):
    """The URL of files that translate keeps up to date for a player."""
    name = f"live-{player}"
    processes.append(subprocess.Popen(
        [arguments.millstream, "translate", f"{page_server.address}/live/followed-{player}.mpd", "--follow", "-o",
         f"{by_hand_folder}/{name}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    while not os.path.exists(f"{by_hand_folder}/{name}/multivariant.m3u8"):
        time.sleep(0.05)
    return by_hand(name)


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
    ("DASH by number", served(manifest("dash-number")), [DASH]),
    ("DASH by time", served(manifest("dash-timeline")), [DASH]),
    ("DASH on demand", served(manifest("dash-ondemand")), [DASH]),
    ("DASH by number in files of translate", translated("dash-number"), [DASH]),
    ("DASH by time in files of translate", translated("dash-timeline"), [DASH]),
    ("DASH on demand in files of translate", translated("dash-ondemand"), [DASH]),
    ("DASH in two periods", served(f"http://127.0.0.1:{by_hand_port}/periods.mpd"), [(0, 599), DASH], dash_by_hand("periods")),
    # The preview ends with the last segment of 4 s before 30 s.
    ("DASH preview of 30 s", served(manifest("dash-number"), ("duration", "30")), [(0, 839)]),
    ("DASH advertisement in the middle", served(manifest("dash-number"), ("insert", manifest("dash-timeline") + "@20")),
     [(0, 599), DASH, (600, 1199)], dash_by_hand("advertisement")),
    ("DASH in two periods in files of translate", translated("periods"), [(0, 599), DASH], dash_by_hand("periods")),
    ("DASH live to its end", live_manifest, "ended", live_by_hand),
    ("DASH live in files of translate --follow", followed_manifest, "ended", live_by_hand),
]


def breaks_are_replaced(found, tolerance):
    """Whether runs begin and end with segments of the film, or are the whole advertisement, at least once."""
    def is_boundary(frame):
        return min(frame % SEGMENT, -frame % SEGMENT) <= tolerance

    def is_advertisement(first, last):
        return first <= tolerance and abs(last - ADVERTISEMENT[1]) <= tolerance

    inner = [(first, last) for first, last, _ in found[1:-1]]
    return any(is_advertisement(*run) for run in inner) and all(
        is_advertisement(first, last) or is_boundary(first) and is_boundary(last + 1) for first, last in inner)


def verdict(found, expected, tolerance, omitted):
    """None if the runs are as expected, otherwise what was played."""
    text = ", ".join(f"{first}–{last} ({count})" for first, last, count in found) or "nothing"
    if isinstance(expected, str):
        count = sum(count for _, _, count in found)
        isComplete = all(last - first + 1 - count <= omitted for first, last, count in found)
        if expected == "ended":
            # A player begins near the live edge, or at the beginning of the window.
            isRight = len(found) == 1 and abs(found[0][1] - DASH[1]) <= tolerance and count >= 300
            return None if isRight and isComplete else text
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
        and last - first + 1 - count <= omitted
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
    if expected == "ended":
        limit = 90
    elif isinstance(expected, str):
        limit = arguments.seconds
    else:
        limit = 60 + sum(last - first + 1 for first, last in expected) // 30
    url = url if isinstance(url, str) else url(player)
    if player == "chromium":
        url = url.replace(f"http://127.0.0.1:{port}/", page_server.address + "/")
    try:
        with open(f"{folder}/log", "wb") as log:
            try:
                found = runs(PLAYERS[player].play(url, folder, limit, log))
            except (OSError, subprocess.CalledProcessError) as error:
                return f"failed: {error}"
        return verdict(found, expected, PLAYERS[player].tolerance, PLAYERS[player].omitted)
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


# The samples without edits, and the DASH samples as playlists and a file that nothing translated.
REFERENCES = [source(name) for name in ("ts", "ad", "fmp4", "byterange", "aes")] + [
    dash_by_hand("number"), dash_by_hand("time"), f"http://127.0.0.1:{origin_port}/dash-ondemand/360p.mp4"]
# Players may omit single frames at a transition or at the end. When the size of the video changes, the output of VLC discards
# the pictures that it has not shown yet. Chromium omits pictures where the machine is too slow.
PLAYERS = {
    "millstream": players.Player(players.millstream(arguments.millstream, REFERENCES), 0, omitted=3),
    "chromium": players.Player(players.chromium(page_server), 20, omitted=600),
    "ffmpeg": players.Player(players.ffmpeg, 3),
    "mpv": players.Player(players.mpv, 3),
    "gstreamer": players.Player(players.gstreamer, 3),
    "vlc": players.Player(players.vlc, 45),
}
library = tempfile.mkdtemp(prefix="players-library-")
by_hand_folder = tempfile.mkdtemp(prefix="players-by-hand-")
write_by_hand(by_hand_folder, "demuxed", DEMUXED, DEMUXED, sample="fmp4")
write_by_hand(by_hand_folder, "muxed", (MUXED[0], None), MUXED)
write_by_hand(by_hand_folder, "mixed", DEMUXED, MUXED)
write_dash_by_hand(by_hand_folder, "number", ("dash-number", range(10)))
write_dash_by_hand(by_hand_folder, "time", ("dash-timeline", range(10)))
write_dash_by_hand(by_hand_folder, "periods", ("dash-number", range(5)), ("dash-timeline", range(10)))
write_dash_by_hand(
    by_hand_folder, "advertisement", ("dash-number", range(5)), ("dash-timeline", range(10)), ("dash-number", range(5, 10)))
write_periods(by_hand_folder)
processes = [
    subprocess.Popen([arguments.millstream, "origin", by_hand_folder, "--port", str(by_hand_port)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    subprocess.Popen([arguments.millstream, "origin", arguments.samples, "--port", str(origin_port)],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    subprocess.Popen([arguments.millstream, "serve", "--port", str(port), "--library", library,
                      "--allow-host", f"127.0.0.1:{origin_port}", "--allow-host", f"127.0.0.1:{by_hand_port}",
                      "--allow-host", f"127.0.0.1:{page_server.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
]
failures = 0
try:
    for number in (origin_port, by_hand_port, port):
        wait_for(number)
    for name, url in [(name, manifest(name)) for name in ("dash-number", "dash-timeline", "dash-ondemand")] + [
            ("periods", f"http://127.0.0.1:{by_hand_port}/periods.mpd")]:
        subprocess.run([arguments.millstream, "translate", url, "-o", f"{by_hand_folder}/translated-{name}"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    names = arguments.players.split(",")
    wanted = [case for case in CASES if not arguments.cases or any(part in case[0] for part in arguments.cases.split(","))]
    print("| case | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for case in wanted:
        # The players run side by side, because some of them play in real time.
        with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
            results = list(pool.map(lambda player: result_of(player, case), names))
        failures += sum(not is_right for _, is_right in results)
        print(f"| {case[0]} | " + " | ".join(text for text, _ in results) + " |", flush=True)
finally:
    page_server.stop()
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait()
    shutil.rmtree(library, ignore_errors=True)
    shutil.rmtree(by_hand_folder, ignore_errors=True)
sys.exit(1 if failures else 0)
