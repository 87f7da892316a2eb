"""The players of the matrix: each returns the frame numbers of the pictures that it shows."""

import os
import signal
import subprocess
import threading
import time
import urllib.parse

from frames import HEIGHT, WIDTH, numbers_in, numbers_of


class Player:
    """A player, with the number of frames that it may omit at the ends of a run, and within a run."""

    def __init__(self, play, tolerance, omitted=None):
        self.play = play
        self.tolerance = tolerance
        self.omitted = tolerance if omitted is None else omitted


def run(command, limit, output=None, user=None, ends=None):
    """Runs a player; it is ended after a time limit in seconds, which is no failure for a live stream, or at an event."""
    if user is not None and os.geteuid() == 0:
        command = ["runuser", "-u", user, "--"] + command
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        if ends is None:
            process.wait(limit)
            return
        ends.wait(limit)
    except subprocess.TimeoutExpired:
        pass
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ffmpeg(url, folder, limit, log):
    path = f"{folder}/frames"
    run(["ffmpeg", "-v", "error", "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough", "-t", str(limit),
         "-vf", f"scale={WIDTH}:{HEIGHT}:flags=area,format=gray", "-f", "rawvideo", "-y", path], limit + 30, log)
    return numbers_in(path)


def mpv(url, folder, limit, log):
    path = f"{folder}/frames"
    run(["mpv", "--no-config", "--no-audio", "--no-sub", f"--length={limit}", f"--vf=scale={WIDTH}:{HEIGHT},format=gray",
         "--ovc=rawvideo", "--of=rawvideo", f"--o={path}", url], limit + 30, log)
    return numbers_in(path)


def gstreamer(url, folder, limit, log):
    path = f"{folder}/frames"
    sink = (f"videoconvert ! videoscale add-borders=false ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},"
            f"pixel-aspect-ratio=1/1 ! filesink location={path} sync=false")
    run(["gst-launch-1.0", "-q", "playbin3", f"uri={url}", "audio-sink=fakesink sync=false", "text-sink=fakesink sync=false",
         f"video-sink={sink}"], limit, log)
    return numbers_in(path)


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
    return numbers_in(path)


def chromium(server):
    """Chromium, which plays HLS by itself, in a page that reads the pictures."""
    def play(url, folder, limit, log):
        key, ends = server.expect_pictures()
        page = f"{server.address}/page?key={key}&url={urllib.parse.quote(url, safe='')}&limit={limit}"
        run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", f"--user-data-dir={folder}/profile",
             "--autoplay-policy=no-user-gesture-required", "--no-first-run", page], limit + 30, log, ends=ends)
        pictures = server.pictures(key)
        size = 2 * 20
        return numbers_of(pictures[start:start + size] for start in range(0, len(pictures) - size + 1, size))
    return play


def millstream(program, references):
    """The player of this package, whose frames are recognized by their checksums.

    Each reference is a playlist without edits that shows the frames of a sample from the first to the last one.
    """
    numbers = {}
    lock = threading.Lock()

    def checksums(url, folder, log, limit, *options):
        path = f"{folder}/checksums"
        # The frames of another variant have other checksums.
        run([program, "play", url, "--headless", "--muted", "--quiet", "--max-height", "360", "--selector", "fixed-highest",
             "--checksums", path, *options], limit, log)
        with open(path) as file:
            return [line.rsplit(",", 1)[1].strip() for line in file if not line.startswith("#")]

    def play(url, folder, limit, log):
        with lock:
            if not numbers:
                for reference in references:
                    for number, checksum in enumerate(checksums(reference, folder, log, 300, "--speed", "max")):
                        numbers[checksum] = number
        played = checksums(url, folder, log, limit, *([] if "live" in url else ["--speed", "max"]))
        return [numbers[checksum] for checksum in played if checksum in numbers]
    return play
